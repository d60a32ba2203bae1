"""One writer per lab. The kernel drops the lock when its holder dies, so a stale one cannot exist."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from mydyno.core.errors import LabError


class WriterLock:
    """An exclusive flock(2) on `lab/lock`, held until closed; the file names the holder for people.

    Raises LabError when another process holds it.
    """

    def __init__(self, lab: Path) -> None:
        self._file = (lab / "lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            holder = self._file.read().strip()
            self._file.close()
            raise LabError(
                f"the lab {lab} is in use by another mydyno" + (f" (pid {holder})" if holder else ""),
                "wait until it ends or stop it with Ctrl-C there, or use another lab with --lab FOLDER",
            ) from None
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def close(self) -> None:
        """Let the next writer in."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
