"""What every host can do: run a command, start a process, read and write files, report its facts."""

import socket
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from mydyno.core.facts import HostFacts
from mydyno.machine.environment import Environment
from mydyno.machine.identity import Identity


@dataclass(frozen=True)
class Finished:
    """A command that has ended. The texts are decoded as UTF-8, broken bytes replaced."""

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str


class Process(Protocol):
    """A process that a host started and that dies with mydyno."""

    @property
    def pid(self) -> int: ...

    def returncode(self) -> int | None:
        """None while it runs; a negative number is the signal that ended it."""

    def wait(self, seconds: float) -> int | None:
        """Waits until it ends, at most `seconds`; the return code, or None when it still runs."""

    def terminate(self) -> None:
        """Asks it to end (SIGTERM). Nothing happens when it has ended."""

    def kill(self) -> None:
        """Ends it at once (SIGKILL). Nothing happens when it has ended."""


class Conversation(Process, Protocol):
    """A process that is talked to: written to, and listened to while it runs. It dies with mydyno."""

    @property
    def stdin(self) -> BinaryIO:
        """Close it to signal the process that nothing follows."""

    @property
    def stdout(self) -> BinaryIO:
        """Ends when the process has closed its standard output."""

    def errors(self) -> str:
        """What it has written to its standard error so far; after its end, all of it."""

    def close(self) -> None:
        """Kills it when it still runs and frees what it held. Nothing happens the second time."""


class HeldFile(Protocol):
    """Text that started processes can read as a file and that is on no disk (memfd_create(2))."""

    @property
    def path(self) -> str:
        """What a process that was started with this file opens."""

    def wipe(self) -> None:
        """Empties it, for the processes that have it too, and lets go of it. May be called twice."""


class Host(ABC):
    """Where commands run. Every method raises MissingToolError when the program does not exist there.

    Paths are the host's own. The lab is at the same path on every host without `work_folder`. Raises
    LabError for a file or folder that cannot be written, HostError when the host itself has gone.
    """

    name: str
    """`local`, `uml`, `vm`: for messages, and to distinguish answers of two hosts."""
    ephemeral: bool
    """Whether all that is made on it goes with it, so that no undo of it need be kept."""
    server_identity: Identity | None
    """The user that servers run as; None: the user that mydyno itself runs as."""

    @property
    def work_folder(self) -> Path | None:
        """On another machine, which has no lab, the folder for all that is made there; it goes with the host.
        None: the lab is there."""
        return None

    @property
    def reservable_bytes(self) -> int | None:
        """The most address space that a program should set aside at once; None: as much as it likes."""
        return None

    @abstractmethod
    def run(
        self,
        argv: Sequence[str],
        *,
        identity: Identity | None = None,
        stdin: bytes = b"",
        timeout_seconds: float = 60.0,
    ) -> Finished:
        """Runs a command to its end with exactly this argv (no shell) and a neutral locale.

        Raises ServerError when it has not ended after `timeout_seconds` (it is killed then).
        """

    @abstractmethod
    def start(
        self,
        argv: Sequence[str],
        *,
        identity: Identity | None = None,
        output: Path,
        held: Sequence[HeldFile] = (),
    ) -> Process:
        """Starts a process whose standard output and error are appended to the file `output`.

        The file is opened before the change of user, so the process needs no right to its folder.
        `held` are those of this host's `hold` that it may read.
        """

    @abstractmethod
    def open(self, argv: Sequence[str], *, identity: Identity | None = None) -> Conversation:
        """Starts a process to talk to."""

    @abstractmethod
    def hold(self, content: bytes) -> HeldFile:
        """Keeps `content` for processes that `start` starts; wipe it when they have read it."""

    @abstractmethod
    def dial(self, path: Path) -> socket.socket:
        """A stream connected to the unix socket `path` on that host. Raises OSError as connect(2) does."""

    @abstractmethod
    def program(self, name: str) -> Path:
        """Where one of mydyno's own programs is on that host: `mydyno-engine`, `mydyno-agent`."""

    @abstractmethod
    def exists(self, path: Path) -> bool: ...

    @abstractmethod
    def make_folder(self, path: Path, *, mode: int = 0o700, owner: Identity | None = None) -> None:
        """Makes one folder, whose parent is there. A folder that is there already is an error."""

    @abstractmethod
    def remove_tree(self, path: Path) -> None:
        """Removes a file or folder and all in it; nothing happens when there is none."""

    @abstractmethod
    def read_text(self, path: Path) -> str | None:
        """The text of a file; None when it is missing or unreadable."""

    @abstractmethod
    def write_text(self, path: Path, text: str, *, owner: Identity | None = None) -> None:
        """Writes a file that only `owner` (default: mydyno's own user) and root can read."""

    @abstractmethod
    def facts(self, path: Path) -> HostFacts:
        """What a plan needs to know; the free disk is that of the file system under `path`."""

    @abstractmethod
    def environment(self, path: Path) -> Environment:
        """What a result belongs to; the file system and disk are those under `path`."""
