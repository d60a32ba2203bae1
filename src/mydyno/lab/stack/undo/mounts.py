"""Unmounting what mydyno has mounted, and removing the empty folder that local environments mount on.

It is empty here: what is mounted there is mounted in private namespaces. The last environment that ends
removes it. Removing a folder takes away whatever other namespaces have mounted on it, so every environment
holds a shared lock on it, and only who can have it alone removes it.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

from mydyno.core.errors import UndoError
from mydyno.core.writing import writing
from mydyno.lab.stack.undo.base import WayBack, in_private_folder, run_tool
from mydyno.machine.environment import OWN, mounts

MOUNT_ROOT = Path("/run/mydyno")
"""Where volumes are mounted in every environment."""


class HeldMountRoot:
    """The folder, there for as long as this is held; the lock of a killed process goes with it."""

    def __init__(self, path: Path = MOUNT_ROOT) -> None:
        """Raises LabError when it cannot be made."""
        self._path = path
        with writing(path):
            self._descriptor = _locked(path)

    def let_go(self) -> None:
        """Removes the folder when no other run holds it. Nothing happens the second time."""
        if self._descriptor >= 0:
            _remove_when_alone(self._path, self._descriptor)
            self._descriptor = -1


def remove_unheld(path: Path = MOUNT_ROOT) -> None:
    """Removes the folder when it is not held and empty."""
    with suppress(OSError):
        _remove_when_alone(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))


def _remove_when_alone(path: Path, descriptor: int) -> None:
    # Somebody else holds it, or has put something there: then it stays.
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.rmdir()
    os.close(descriptor)


def _locked(path: Path) -> int:
    while True:
        with suppress(FileExistsError):
            path.mkdir(mode=0o755)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        # The last one may have removed the folder between opening and locking.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.lstat()):
                return descriptor
        os.close(descriptor)


class Unmount(WayBack):
    """Unmount whatever is mounted on this point, which lies below /run/mydyno or in a private folder."""

    kind: Literal["unmount"] = "unmount"
    path: Path

    def carry_out(self) -> None:
        """Raises UndoError when the point is not ours, or is still in use."""
        below_root = self.path.is_relative_to(MOUNT_ROOT) and ".." not in self.path.parts
        if not below_root and not in_private_folder(self.path):
            raise UndoError(f"refused to unmount {self.path}: mydyno mounts nothing there")
        # Mounts can be stacked on one point; each pass takes the topmost off.
        for _ in range(mounts_on(self.path)):
            run_tool(["umount", "--no-canonicalize", str(self.path)])

    def sentence(self) -> str:
        return f"made sure that nothing is mounted on {self.path}"


def mounts_on(path: Path, mountinfo: Path = OWN) -> int:
    """How many file systems are mounted on exactly this point, here."""
    text = mountinfo.read_text(encoding="utf-8", errors="surrogateescape")
    return sum(mount.mount_point == str(path) for mount in mounts(text))


class RemoveMountRoot(WayBack):
    """Remove /run/mydyno when it is empty and no other run of mydyno uses it."""

    kind: Literal["remove-mount-root"] = "remove-mount-root"

    def carry_out(self) -> None:
        """Never fails: what is in use or not empty stays, and its user removes it."""
        remove_unheld()

    def sentence(self) -> str:
        return f"made sure that {MOUNT_ROOT} is gone, or used by another run"
