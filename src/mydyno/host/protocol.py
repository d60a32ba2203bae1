"""What every host can do: run a command, start a process, read and write files, tell its facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mydyno.core.facts import HostFacts
from mydyno.host.environment import Environment
from mydyno.host.identity import Identity


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


class Host(Protocol):
    """Where commands run. Every method raises MissingToolError when the program does not exist there."""

    @property
    def name(self) -> str: ...

    @property
    def server_identity(self) -> Identity | None:
        """The user that servers run as; None: the user that mydyno itself runs as."""

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

    def start(
        self,
        argv: Sequence[str],
        *,
        identity: Identity | None = None,
        output: Path,
        pass_fds: Sequence[int] = (),
    ) -> Process:
        """Starts a process whose standard output and error are appended to the file `output`.

        The file is opened here, by mydyno's own user, so the process needs no right to its folder.
        """

    def read_text(self, path: Path) -> str | None:
        """The text of a file; None when it is missing or unreadable."""

    def write_text(self, path: Path, text: str, *, owner: Identity | None = None) -> None:
        """Writes a file that only `owner` (default: mydyno's own user) and root can read."""

    def facts(self, path: Path) -> HostFacts:
        """What a plan needs to know; the free disk is that of the file system under `path`."""

    def environment(self, path: Path) -> Environment:
        """What a result belongs to; the file system and disk are those under `path`."""
