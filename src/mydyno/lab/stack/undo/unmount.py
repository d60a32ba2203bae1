"""Unmounting what mydyno has mounted."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from mydyno.core.errors import UndoError
from mydyno.lab.stack.mount_root import MOUNT_ROOT
from mydyno.lab.stack.undo.base import WayBack, in_private_folder, run_tool
from mydyno.machine.mountinfo import OWN, mounts


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
    return sum(mount.point == str(path) for mount in mounts(text))
