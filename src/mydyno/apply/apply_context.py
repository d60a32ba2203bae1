"""What acts work with: the root of the files, the kept bytes, the login to the server."""

from dataclasses import dataclass
from pathlib import Path

from mydyno.server.access.login import Login

AS_ROOT = "run it as root: sudo mydyno ..."
"""The hint of whatever this user may not read or change."""


@dataclass(frozen=True)
class ApplyContext:
    """Passed to every act and written nowhere: a login holds a password."""

    root: Path = Path("/")
    """`/`, or the folder of an image (`--root`)."""
    kept: Path | None = None
    """The application's own folder, with the bytes of files before and after. None: not yet made."""
    login: Login | None = None
    """Of the server; None: it is not reached, so no act on its variables can happen."""
    running: bool = False
    """The system below a root other than `/` runs, its kernel's files are there: its acts may happen."""

    @property
    def files_only(self) -> bool:
        """Whether it is an image: no act but those on its files may happen, all others are this machine's."""
        return self.root != Path("/") and not self.running

    @property
    def anchor(self) -> Path:
        """The folder below which the application's own folder is opened without following links."""
        assert self.kept is not None, "files are replaced by an application"
        return self.root if self.root != Path("/") else self.kept.parent

    def place(self, path: str) -> Path:
        """Where an absolute path of the system lies: below the root."""
        return self.root / path.lstrip("/")
