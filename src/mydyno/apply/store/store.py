"""The folder of all applications: opened for one at a time, read by anybody who may."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mydyno.apply.files.replace import keep_bytes, sync_folder
from mydyno.apply.store.application import Application, read_application
from mydyno.apply.store.journal import Journal, Progress
from mydyno.core import environment
from mydyno.core.errors import LabError

_FILE = "application.json"
_HALF = ".partial"


@dataclass(frozen=True)
class Entry:
    """One application, where it lies, and how far it came when it was read."""

    application: Application
    folder: Path
    progress: Progress

    @property
    def journal(self) -> Journal:
        return Journal(self.folder)


def changes_folder(root: Path) -> Path:
    """Where applications are kept: an image's inside it, root's in /var/lib, else in the user's own state."""
    if root != Path("/"):
        return root / "var/lib/mydyno/changes"
    own = environment.STATE.read()
    if own is not None:
        return Path(own).absolute() / "changes"
    if os.geteuid() == 0:
        return Path("/var/lib/mydyno/changes")
    shared = Path(os.environ.get("XDG_STATE_HOME") or "")
    return (shared if shared.is_absolute() else Path.home() / ".local/state") / "mydyno/changes"


class Store:
    """All applications of one system. What changes something is done inside `held`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else changes anything meanwhile; a guardian that still puts back is waited for.

        The kernel lets go of the lock with its last holder, so none is ever left behind. Raises LabError.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise LabError(
                f"{self.folder} cannot be used: {error.strerror}", "run it by root: sudo mydyno ..."
            ) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LabError(
                    f"another mydyno changes this system at this moment ({self._at_work()})",
                    "wait until it ends: `mydyno history` shows what came of it",
                ) from None
            yield
        finally:
            os.close(descriptor)

    @property
    def is_held(self) -> bool:
        """Whether somebody changes something right now."""
        try:
            descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def add(self, application: Application, contents: Sequence[bytes]) -> Entry:
        """Puts the application and the bytes of its files on the disk, or nothing. Raises LabError."""
        folder = self.folder / application.id
        half = folder.with_name(application.id + _HALF)
        try:
            half.mkdir(mode=0o700)
            keep_bytes(half, contents)
            descriptor = os.open(half / _FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(application.model_dump_json(indent=1) + "\n")
                file.flush()
                os.fsync(descriptor)
            half.rename(folder)
            sync_folder(self.folder)
        except OSError as error:
            shutil.rmtree(half, ignore_errors=True)
            raise LabError(f"{folder} cannot be written: {error.strerror}") from error
        return Entry(application, folder, Progress())

    def entries(self) -> list[Entry]:
        """All applications, oldest first. Raises LabError when one cannot be read."""
        try:
            folders = sorted(self.folder.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise LabError(
                f"{self.folder} cannot be read: {error.strerror}", "run it by root: sudo mydyno ..."
            ) from error
        return [self._entry(each) for each in folders if each.is_dir() and each.suffix != _HALF]

    def unfinished(self) -> list[Entry]:
        """Those that were killed before they were done or taken back, newest first."""
        return [each for each in reversed(self.entries()) if each.progress.phase == "unfinished"]

    def _at_work(self) -> str:
        """What the holder of the lock does, as far as it has written that down."""
        for entry in self.unfinished():
            does = entry.application
            return f"{does.id}: {does.does} {', '.join(does.findings)}, {does.server}"
        return f"{self.folder}/lock"

    def clear_halves(self) -> None:
        """Removes what a kill has left of applications that had not begun. Only while it is held."""
        for half in self.folder.glob(f"*{_HALF}"):
            shutil.rmtree(half, ignore_errors=True)

    def _entry(self, folder: Path) -> Entry:
        path = folder / _FILE
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise LabError(f"{path} cannot be read: {error.strerror}", "run it by root (sudo)") from error
        return Entry(read_application(text, str(path)), folder, Journal(folder).read())


def in_force(entries: Sequence[Entry]) -> list[Entry]:
    """The applications whose changes stand: applied, and not rolled back since; oldest first."""
    done = [each for each in entries if each.progress.phase == "applied"]
    taken_back = {each.application.rolls_back for each in done}
    return [
        each for each in done if each.application.does == "apply" and each.application.id not in taken_back
    ]
