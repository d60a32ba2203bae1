"""Removing a private folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from mydyno.core.errors import UndoError
from mydyno.lab.stack.undo.base import PRIVATE_NAME, WayBack, in_private_folder


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
            shutil.rmtree(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise UndoError(f"{self.path} cannot be removed: {error.strerror}") from error

    def sentence(self) -> str:
        return f"made sure that {self.path} is gone"
