"""The ways back, as data: what the journal keeps and what undoing it does.

Each is idempotent (undoing twice, or something that never came to be, does nothing) and refuses
whatever does not look like mydyno's own: a journal must never become a way to delete at large.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from mydyno.core.errors import UndoError
from mydyno.stack import processes

PRIVATE_NAME = re.compile(r"mydyno-[0-9a-f]{12}")
"""The name of every folder that mydyno makes for itself; 48 random bits, so nobody else's matches."""

# Long enough for a server to write its dirty pages, since a clean end is kinder to the disk.
_END_PATIENCE_SECONDS = 10.0


class _Undo(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EndProcesses(_Undo):
    """End every process that has exactly this argument. It names a private folder."""

    kind: Literal["end-processes"] = "end-processes"
    argument: str

    def carry_out(self) -> None:
        """Raises UndoError when the argument is not ours, or a process will not end."""
        if PRIVATE_NAME.search(self.argument) is None:
            raise UndoError(f"refused to end processes by {self.argument!r}: it names no folder of mydyno's")
        for process in processes.find_by_argument(self.argument):
            try:
                gone = processes.end(process, _END_PATIENCE_SECONDS)
            except PermissionError as error:
                raise UndoError(
                    f"process {process.pid} belongs to another user", "clean up as that user or as root"
                ) from error
            if not gone:
                raise UndoError(f"process {process.pid} does not end, not even by SIGKILL")


class RemoveTree(_Undo):
    """Remove a private folder and all in it."""

    kind: Literal["remove-tree"] = "remove-tree"
    path: Path

    def carry_out(self) -> None:
        """Raises UndoError when the folder is not ours or cannot be removed. Follows no symbolic link."""
        if PRIVATE_NAME.fullmatch(self.path.name) is None or not self.path.is_absolute():
            raise UndoError(f"refused to remove {self.path}: it is not named like a folder of mydyno's")
        if self.path.is_symlink():
            raise UndoError(f"refused to remove {self.path}: it is a symbolic link, and mydyno makes none")
        try:
            shutil.rmtree(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise UndoError(f"{self.path} cannot be removed: {error.strerror}") from error


Undo = Annotated[EndProcesses | RemoveTree, Field(discriminator="kind")]
UNDO: TypeAdapter[Undo] = TypeAdapter(Undo)
