"""Writing back the old value of a block device's queue."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar, Literal

from mydyno.core.errors import UndoError
from mydyno.lab.stack.undo.base import WayBack

# A device's name may hold an exclamation mark where its node has a slash (cciss!c0d0).
_QUEUE_FILE = re.compile(
    r"/sys/block/[A-Za-z0-9][A-Za-z0-9!._-]*/queue/(scheduler|read_ahead_kb|nr_requests)"
)
_VALUE = re.compile(r"[a-z0-9_-]+")


class RestoreSysfs(WayBack):
    """Write `value` into a file of /sys/block/DEVICE/queue: a scheduler, a readahead, a queue's length."""

    kind: Literal["restore-sysfs"] = "restore-sysfs"
    needs_receipt: ClassVar[bool] = True
    path: Path
    value: str

    def carry_out(self) -> None:
        """Raises UndoError for any other file, and when the kernel does not take the value.

        Nothing happens when the device has gone, or its queue has the value.
        """
        if _QUEUE_FILE.fullmatch(str(self.path)) is None or _VALUE.fullmatch(self.value) is None:
            raise UndoError(
                f"refused to write {self.value!a} into {self.path}: no setting of a block device's queue"
            )
        try:
            if chosen(self.path.read_text()) != self.value:
                self.path.write_text(self.value)
        except FileNotFoundError:
            return
        except OSError as error:
            raise UndoError(
                f"{self.path} does not take back {self.value!r}: {error.strerror}",
                "was it changed by root? clean up as root",
            ) from error

    def sentence(self) -> str:
        return f"made sure that {self.path} says {self.value}"


def chosen(text: str) -> str:
    """The bracketed word of a choice (`mq-deadline [none]`), or the whole of a plain value."""
    match = re.search(r"\[([^\]]+)\]", text)
    return match[1] if match else text.strip()
