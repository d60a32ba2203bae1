"""The folder of all applications: opened for one at a time, read by any user who may."""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mydyno.apply.apply_context import AS_ROOT
from mydyno.apply.files.inside import inside
from mydyno.apply.files.replace import keep_bytes
from mydyno.apply.store.application import Application, read_application
from mydyno.apply.store.journal import Journal, Progress
from mydyno.core.beneath import folder_below, is_folder_below, names_below, open_below, read_below
from mydyno.core.durable import make_folder_below, sync_folder, write_synced
from mydyno.core.errors import LabError
from mydyno.core.folders import state_folder

_FILE = "application.json"
_HALF = ".partial"


@dataclass(frozen=True)
class Entry:
    """One application, where it lies, and how far it came when it was read."""

    application: Application
    folder: Path
    progress: Progress
    anchor: Path
    """The folder below which the others are opened without following links."""

    @property
    def journal(self) -> Journal:
        return Journal(self.folder, self.anchor)


def changes_folder(root: Path) -> Path:
    """Where applications are kept: an image's inside it, root's in /var/lib, else in the user's own state."""
    if root != Path("/"):
        return root / inside(root, "/var/lib/mydyno/changes")[1:]
    return state_folder() / "changes"


class Store:
    """All applications of one system. What changes something is done inside `held`."""

    def __init__(self, folder: Path, image: Path | None = None) -> None:
        """`image`: the root below which the folder lies, when the system does not run; nothing in it is
        believed to have been written by mydyno."""
        self.folder = folder
        self.is_of_image = image is not None
        self._anchor = image or folder

    @classmethod
    def of_system(cls, root: Path) -> Self:
        """That of this machine (`/`), or of the image below `root`. Raises ApplyError."""
        return cls(changes_folder(root), None if root == Path("/") else root)

    @contextmanager
    def held(self) -> Iterator[None]:
        """No other mydyno changes anything meanwhile; a guardian that still restores is waited for.

        The kernel lets go of the lock with its last holder, so none is ever left behind. Raises LabError.
        """
        try:
            self._make()
            self._refuse_others()
            descriptor = open_below(self._anchor, self.folder / "lock", os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise LabError(f"{self.folder} cannot be used: {error.strerror}", AS_ROOT) from error
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
        """Whether a mydyno changes the system right now."""
        try:
            descriptor = open_below(self._anchor, self.folder / "lock", os.O_RDWR)
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
            make_folder_below(self._anchor, half, 0o700)
            keep_bytes(self._anchor, half, contents)
            content = application.model_dump_json(indent=1) + "\n"
            write_synced(self._anchor, half / _FILE, content.encode())
            with folder_below(self._anchor, self.folder) as opened:
                os.rename(half.name, folder.name, src_dir_fd=opened, dst_dir_fd=opened)
                sync_folder(opened)
        except OSError as error:
            self._remove(half.name)
            raise LabError(f"{folder} cannot be written: {error.strerror}") from error
        return Entry(application, folder, Progress(), self._anchor)

    def entries(self) -> list[Entry]:
        """All applications, oldest first. Raises LabError when one cannot be read."""
        try:
            self._refuse_others()
            folders = [self.folder / name for name in names_below(self._anchor, self.folder)]
            whole = [each for each in folders if each.suffix != _HALF and self._is_folder(each)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise LabError(f"{self.folder} cannot be read: {error.strerror}", AS_ROOT) from error
        return [self._entry(each) for each in whole]

    def unfinished(self) -> list[Entry]:
        """Those that were killed before they were done or taken back, newest first."""
        return [each for each in reversed(self.entries()) if each.progress.phase == "unfinished"]

    def clear_halves(self) -> None:
        """Removes what a kill has left of applications that had not begun. Only while it is held."""
        for name in names_below(self._anchor, self.folder):
            if name.endswith(_HALF):
                self._remove(name)

    def _at_work(self) -> str:
        """What the holder of the lock does, as far as it has written that down."""
        for entry in self.unfinished():
            does = entry.application
            return f"{does.id}: {does.does} {', '.join(does.findings)}, {does.server}"
        return f"{self.folder}/lock"

    def _make(self) -> None:
        if not self.is_of_image:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return
        for folder in (*reversed(self.folder.parents), self.folder):
            below = folder.is_relative_to(self._anchor) and folder != self._anchor
            if below and not is_folder_below(self._anchor, folder):
                make_folder_below(self._anchor, folder, 0o700 if folder == self.folder else 0o755)

    def _refuse_others(self) -> None:
        """Of a system that runs, what another user could have written is not carried out. Raises LabError
        and OSError."""
        if self.is_of_image:
            return
        about = self.folder.stat()
        if about.st_uid not in (os.geteuid(), 0) or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise LabError(
                f"{self.folder} can be written by others than this user, so what it says is not carried out",
                f"if only you have written there: chown it to this user and chmod 700 {self.folder}",
            )

    def _is_folder(self, path: Path) -> bool:
        try:
            return is_folder_below(self._anchor, path)
        except OSError:  # A link, so not mydyno's.
            return False

    def _remove(self, name: str) -> None:
        with suppress(OSError), folder_below(self._anchor, self.folder) as opened:
            shutil.rmtree(name, ignore_errors=True, dir_fd=opened)

    def _entry(self, folder: Path) -> Entry:
        path = folder / _FILE
        try:
            text = read_below(self._anchor, path).decode()
        except OSError as error:
            raise LabError(f"{path} cannot be read: {error.strerror}", AS_ROOT) from error
        except UnicodeDecodeError as error:
            raise LabError(f"{path} is damaged: {error}") from error
        application = read_application(text, str(path))
        if self.is_of_image and (strange := [act for act in application.acts if act.kind != "file"]):
            raise LabError(
                f"{path} is not by mydyno, which changes only files of an image: {strange[0].sentence()}",
                f"remove {folder}: none of it was carried out",
            )
        return Entry(application, folder, Journal(folder, self._anchor).read(), self._anchor)


def in_force(entries: Sequence[Entry]) -> list[Entry]:
    """The applications whose changes are in force: applied, and not rolled back since; oldest first."""
    done = [each for each in entries if each.progress.phase == "applied"]
    taken_back = {each.application.rolls_back for each in done}
    return [
        each for each in done if each.application.does == "apply" and each.application.id not in taken_back
    ]
