"""What acts work with: the root of the files, the kept bytes, the way into the server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mydyno.stack.server.login import Login


@dataclass(frozen=True)
class Means:
    """Handed to every act. Nothing of it is written anywhere: a login holds a password."""

    root: Path = Path("/")
    """`/`, or the folder of an image (`--root`), in which no act but those on files happens."""
    kept: Path | None = None
    """The application's own folder, with the bytes of files before and after. None: not yet made."""
    login: Login | None = None
    """Of the server; None: it is not reached, so no act on its variables can happen."""

    def place(self, path: str) -> Path:
        """Where an absolute path of the system lies: below the root."""
        return self.root / path.removeprefix("/")
