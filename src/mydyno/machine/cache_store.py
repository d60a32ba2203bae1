"""A folder of the cache in which everything is there whole or not at all.

    .partial-XXXX/   being made
    lock             held by the process that makes or removes: one at a time

So the process that holds the lock may sweep every `.partial` folder: its maker was killed.
"""

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mydyno.core.errors import LabError
from mydyno.core.writing import writing
from mydyno.machine.local import LocalHost

PARTIAL = ".partial-"
_ELSEWHERE = "mydyno-image-"
_MMDEBSTRAP = "mmdebstrap"


class CacheStore:
    """One folder of the cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def locked(self) -> Iterator[None]:
        """No other process makes or removes a file meanwhile. Waits for it. Raises LabError."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def sweep(self) -> int:
        """Removes what killed builds have left; how many folders that were."""
        with self.locked():
            return self._sweep()

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A folder to build in, gone at the end of the block. Waits while another mydyno builds."""
        with self.locked():
            self._sweep()
            with writing(self.folder):
                folder = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=self.folder))
            try:
                yield folder
            finally:
                remove_tree(folder)

    def put(self, staged: Path, place: Path) -> None:
        """Moves a finished folder or file to its place, in exchange for what was there."""
        with writing(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.is_dir():
                place.rename(staged.with_name(f"{staged.name}.replaced"))
            staged.rename(place)

    def _sweep(self) -> int:
        left = list(self.folder.glob(f"{PARTIAL}*"))
        for folder in left:
            remove_tree(folder)
        return len(left)


def folder_elsewhere(staging: Path) -> Path:
    """A folder of /var/tmp that is to be made, for what cannot be in the cache; it goes with `staging`."""
    folder = Path("/var/tmp") / f"{_ELSEWHERE}{secrets.token_hex(6)}"
    (staging / _ELSEWHERE).write_text(str(folder))
    return folder


def remove_tree(folder: Path) -> None:
    """Raises LabError."""
    with suppress(OSError):
        elsewhere = Path((folder / _ELSEWHERE).read_text())
        if elsewhere.parent == Path("/var/tmp") and elsewhere.name.startswith(_ELSEWHERE):
            remove_tree(elsewhere)
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except PermissionError as error:
        # An ordinary user's mmdebstrap that was killed leaves files of the user ids that were lent to
        # it (subuid(5)); only inside such a user namespace can they be removed.
        LocalHost().run([_MMDEBSTRAP, "--unshare-helper", "rm", "-rf", "--", str(folder)])
        if folder.exists():
            raise LabError(f"{folder} cannot be removed: {error.strerror}") from error
