"""Lifting the limit of a block device."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from mydyno.core.errors import UndoError
from mydyno.lab.stack.undo.base import WayBack

LimitKind = Literal["read_iops", "write_iops", "read_bps", "write_bps"]

BLKIO_FILES: dict[LimitKind, str] = {
    "read_iops": "blkio.throttle.read_iops_device",
    "write_iops": "blkio.throttle.write_iops_device",
    "read_bps": "blkio.throttle.read_bps_device",
    "write_bps": "blkio.throttle.write_bps_device",
}
"""The four limits of a device, and where the kernel keeps each (cgroup v1, blkio-controller.rst)."""


class LiftThrottle(WayBack):
    """Take off the limits that mydyno has set on a device in the root group of cgroup v1's blkio.

    They outlive a loop device. `limits` are those that were set: a limit with another value was set by
    another program, and stays.
    """

    kind: Literal["lift-throttle"] = "lift-throttle"
    needs_receipt: ClassVar[bool] = True
    device: str = Field(pattern=r"^\d+:\d+$")
    group: Path
    limits: dict[LimitKind, int]

    def carry_out(self) -> None:
        """Raises UndoError when `group` is not a root group, or the kernel does not take the change."""
        if not self.group.is_dir():
            return
        # The root group of a hierarchy is the only folder of it that is a mount point.
        if not os.path.ismount(self.group):
            raise UndoError(f"refused to lift limits in {self.group}: it is not a root group of blkio")
        for kind, value in self.limits.items():
            file = self.group / BLKIO_FILES[kind]
            try:
                if limits_in(file.read_text()).get(self.device) == value:
                    file.write_text(f"{self.device} 0")
            except OSError as error:
                raise UndoError(
                    f"the limit of device {self.device} in {file} cannot be lifted: {error.strerror}",
                    "was it set by root? clean up as root",
                ) from error

    def sentence(self) -> str:
        return f"made sure that device {self.device} has no limit set by mydyno"


def limits_in(text: str) -> dict[str, int]:
    """The lines `MAJOR:MINOR LIMIT` of a limit's file."""
    return {match[1]: int(match[2]) for match in re.finditer(r"^(\d+:\d+) (\d+)$", text, re.MULTILINE)}
