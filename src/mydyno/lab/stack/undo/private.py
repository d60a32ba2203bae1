"""Removing a private folder, and ending the processes that a killed run has left."""

from pathlib import Path
from typing import Literal

from mydyno.core.errors import UndoError
from mydyno.core.removal import remove_tree
from mydyno.lab.stack.undo.base import PRIVATE_NAME, WayBack, in_private_folder
from mydyno.machine import processes

# Long enough for a server to write its dirty pages, since a clean end is kinder to the disk.
_END_PATIENCE_SECONDS = 10.0


class RemoveTree(WayBack):
    """Remove a private folder and all in it."""

    kind: Literal["remove-tree"] = "remove-tree"
    path: Path

    def carry_out(self) -> None:
        """Raises UndoError when the folder is not ours or cannot be removed. Follows no symbolic link."""
        if PRIVATE_NAME.fullmatch(self.path.name) is None or not in_private_folder(self.path):
            raise UndoError(f"refused to remove {self.path}: it is not named like a folder of mydyno's")
        if self.path.is_symlink():
            raise UndoError(f"refused to remove {self.path}: it is a symbolic link, and mydyno creates none")
        try:
            remove_tree(self.path)
        except OSError as error:
            raise UndoError(f"{self.path} cannot be removed: {error.strerror}") from error

    def sentence(self) -> str:
        return f"made sure that {self.path} is gone"


class EndProcesses(WayBack):
    """End every process that has exactly this argument. It names a private folder."""

    kind: Literal["end-processes"] = "end-processes"
    argument: str

    def carry_out(self) -> None:
        """Raises UndoError when the argument is not ours, or a process will not end."""
        if PRIVATE_NAME.search(self.argument) is None:
            raise UndoError(f"refused to end processes by {self.argument!r}: it names no folder of mydyno")
        for process in processes.find_by_argument(self.argument):
            try:
                gone = processes.end(process, _END_PATIENCE_SECONDS)
            except PermissionError as error:
                raise UndoError(
                    f"process {process.pid} belongs to another user", "clean up as that user or as root"
                ) from error
            if not gone:
                raise UndoError(f"process {process.pid} does not end, not even by SIGKILL")

    def sentence(self) -> str:
        return f"made sure that no process with {self.argument} runs"
