"""The lab that is served: opened once, read by one thread, opened again when it was replaced."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from mydyno.core.errors import LabError
from mydyno.lab.results.sound import numbers_explained
from mydyno.lab.results.store import DATABASE, Lab

Result = TypeVar("Result")
_COPY_SECONDS = 10.0
"""An upgraded copy of a lab, which does not change with it, is made again after so long."""


class Library:
    """A lab that may be deleted, unmounted, replaced or upgraded while it is served."""

    def __init__(self, path: Path, open_lab: Callable[[Path], Lab]) -> None:
        self.path = path
        self._open_lab = open_lab
        self._lab: Lab | None = None
        self._identity: tuple[int, int] | None = None
        self._opened_at = 0.0
        # SQLite's connection is of one thread.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lab")

    async def read(self, work: Callable[[Lab], Result]) -> Result:
        """What `work` reads of the lab. Raises LabError and what `work` raises."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, work)

    def close(self) -> None:
        self._thread.submit(self._close).result()
        self._thread.shutdown()

    def _read(self, work: Callable[[Lab], Result]) -> Result:
        with numbers_explained(self.path / DATABASE):
            return work(self._current())

    def _current(self) -> Lab:
        try:
            status = (self.path / DATABASE).stat()
        except OSError as error:
            self._close()
            raise LabError(
                f"the lab {self.path} cannot be read: {error.strerror}",
                "it is shown again when it is there again",
            ) from error
        identity = status.st_dev, status.st_ino
        if self._lab is not None and (identity != self._identity or self._outdated(self._lab)):
            self._close()
        if self._lab is None:
            self._lab, self._identity = self._open_lab(self.path), identity
            self._opened_at = time.monotonic()
        return self._lab

    def _outdated(self, lab: Lab) -> bool:
        is_copy = lab.upgrade is not None and lab.upgrade.backup is None
        try:
            return not lab.current or (is_copy and time.monotonic() - self._opened_at > _COPY_SECONDS)
        except LabError:
            # Its disk was away for a while, say.
            return True

    def _close(self) -> None:
        lab, self._lab = self._lab, None
        if lab is not None:
            lab.close()
