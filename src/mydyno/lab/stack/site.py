"""Where a stack is built: a host, a lab, its undo journal, and the private folders of layers."""

import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mydyno.core.errors import LabError, StorageError
from mydyno.core.writing import writing
from mydyno.lab.stack.journal import Journal
from mydyno.lab.stack.undo import RemoveTree, Undo
from mydyno.machine.protocol import Host
from mydyno.machine.trees import sync_tree

LONGEST_SOCKET_PATH = 107
"""Bytes that a unix socket's path may have: sun_path is 108 with its closing zero (unix(7))."""

_LONGEST_SOCKET_NAME = len("/mydyno-0123456789ab/s.sock")

RESTORE = "restore"
"""The file on another machine from which its agent restores settings of the kernel when a session ends."""
DEVICES = "devices"
"""The file on another machine with the numbers of its real disks, on which its agent may stop arrays."""
# Written by one call: a line that is cut off is not read.
_KEEP = """
umask 077
[ -e "$1" ] || cat /proc/sys/kernel/random/boot_id > "$1"
printf '%s' "$2" >> "$1"
"""


@dataclass(frozen=True)
class PrivateFolder:
    """A folder that only the server's user and root can enter, and the journal's number for removing it."""

    path: Path
    undo: int | None
    """None on a host with which it goes anyway."""


@dataclass
class Site:
    """One lab on one host. `journal` is the lab's; the caller holds the lab's lock."""

    lab: Path
    host: Host
    journal: Journal
    _roomy: Path | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.lab = self.lab.resolve()

    def short_folder(self) -> PrivateFolder:
        """A private folder whose path is short enough for a unix socket, under the temporary folder."""
        if (work := self.host.work_folder) is not None:
            if len(os.fsencode(work)) + _LONGEST_SOCKET_NAME > LONGEST_SOCKET_PATH:
                raise LabError(
                    f"{self.host.name}: {work} is too long a path for a unix socket",
                    "set `folder` in hosts.yaml to a shorter one",
                )
            return self.folder_in(work)
        for parent in (Path(tempfile.gettempdir()).resolve(), Path("/tmp"), Path("/var/tmp")):
            longest = len(os.fsencode(parent)) + _LONGEST_SOCKET_NAME
            if longest <= LONGEST_SOCKET_PATH and self._enterable(parent):
                return self.folder_in(parent)
        raise LabError(
            "no temporary folder is short enough for a unix socket and open to the server's user",
            "set TMPDIR to a folder like /tmp",
        )

    def roomy_folder(self) -> PrivateFolder:
        """A private folder for data: in the lab, or in /var/tmp when the server's user cannot reach the lab.

        That is so when root's lab lies below a folder like /root, which another account may not enter.
        """
        if self.host.work_folder is not None:
            return self.folder_in(self.host.work_folder)
        if self._roomy is None:
            inside = self.lab / "run"
            with writing(inside):
                inside.mkdir(mode=0o755, exist_ok=True)
            self._roomy = inside if self._enterable(inside) else Path("/var/tmp")
        return self.folder_in(self._roomy)

    @contextmanager
    def temporary(self, folder: PrivateFolder) -> Iterator[Path]:
        """`folder` for the length of a block."""
        try:
            yield folder.path
        finally:
            self.remove(folder)

    @contextmanager
    def staged(self, place: Path) -> Iterator[Path]:
        """A private folder next to `place`, which is renamed to it at the end of the block: so it is there
        whole or not at all. Raises LabError."""
        with writing(place.parent):
            place.parent.mkdir(parents=True, exist_ok=True)
        with self.temporary(self.folder_in(place.parent)) as staging:
            yield staging
            sync_tree(self.host, staging)
            with writing(place):
                staging.rename(place)

    def remove(self, folder: PrivateFolder) -> None:
        """Removes a private folder. Raises UndoError, and then the journal keeps it."""
        if folder.undo is None:
            self.host.remove_tree(folder.path)
        else:
            self.journal.undo(folder.undo)

    def intend(self, undo: Undo, instead_of: int | None = None) -> int | None:
        """Journals the way back; None on a host with which the act is gone anyway, where that of a setting of
        the kernel is kept on the host. Raises LabError, StorageError."""
        if not self.host.ephemeral:
            return self.journal.intend(undo, instead_of)
        if (work := self.host.work_folder) is not None and (settings := undo.sysfs()):
            lines = (f"{path}\t{value}" for path, value in settings)
            keep_there(self.host, work / RESTORE, lines)
        return None

    def undo(self, number: int | None) -> None:
        """Undoes what `intend` has journalled. Raises UndoError."""
        if number is not None:
            self.journal.undo(number)

    def folder_in(self, parent: Path) -> PrivateFolder:
        """A private folder in `parent`. Raises LabError."""
        path = parent / f"mydyno-{secrets.token_hex(6)}"
        undo = self.intend(RemoveTree(path=path))
        try:
            self.host.make_folder(path, owner=self.host.server_identity)
        except LabError:
            self.undo(undo)
            raise
        return PrivateFolder(path, undo)

    def _enterable(self, folder: Path) -> bool:
        """Whether the server's user may pass through `folder`; checked by the kernel, as that user."""
        identity = self.host.server_identity
        return self.host.run(["test", "-x", str(folder)], identity=identity).returncode == 0


def keep_there(host: Host, file: Path, lines: Iterable[str]) -> None:
    """Adds lines to a file of the session's folder, which count for this boot. Raises StorageError."""
    text = "".join(f"{line}\n" for line in lines)
    done = host.run(["sh", "-ec", _KEEP, "sh", str(file), text])
    if done.returncode != 0:
        raise StorageError(f"{host.name}: {file} cannot be written: {done.stderr.strip()}")
