"""A machine that is only read: its files, folders, and commands that change nothing."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from mydyno.core.errors import MissingToolError, ServerError
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Finished
from mydyno.survey.facts import Unread

PATIENCE_SECONDS = 30.0
MISSING = "no such file or directory"
_RIGHTS = ("permission denied", "operation not permitted")


class Machine(Protocol):
    """What a survey needs of a machine. Nothing raises for what is missing; a lost machine is HostError."""

    @property
    def name(self) -> str:
        """For messages: `this machine`, `root@db1`."""

    @property
    def refused(self) -> Mapping[str, str]:
        """Path -> why, in the machine's words, for every file that `read_text` could not read."""

    def fetch(self, paths: Iterable[str]) -> None:
        """Reads files ahead, all at once, so that `read_text` need not go to a far machine for each."""

    def read_text(self, path: str) -> str | None:
        """The text of a file, broken bytes replaced; None when it is missing or may not be read."""

    def listing(self, folder: str) -> tuple[str, ...] | None:
        """The names in a folder, sorted; None when it is missing or may not be read."""

    def glob(self, pattern: str) -> tuple[str, ...]:
        """Paths that are there, sorted; `*`, `?` and `[...]` as the shell takes them."""

    def real_path(self, path: str) -> str:
        """Without links; a path that is not there or may not be followed, as it is."""

    def run(self, argv: Sequence[str], *, patience_seconds: float = PATIENCE_SECONDS) -> Finished | None:
        """A command to its end, with a neutral locale; None without such a program or an end of it."""


class LocalMachine:
    """This machine. `root`: another folder to take for /, whose commands are not run."""

    name = "this machine"

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._refused: dict[str, str] = {}
        self._host = LocalHost()

    @property
    def refused(self) -> Mapping[str, str]:
        return self._refused

    def fetch(self, paths: Iterable[str]) -> None:
        """Nothing to do: a file here is as near the second time."""

    def read_text(self, path: str) -> str | None:
        try:
            return self._at(path).read_text(errors="replace")
        except OSError as error:
            self._refused[path] = (error.strerror or str(error)).lower()
            return None

    def listing(self, folder: str) -> tuple[str, ...] | None:
        try:
            return tuple(sorted(path.name for path in self._at(folder).iterdir()))
        except OSError as error:
            self._refused[folder] = (error.strerror or str(error)).lower()
            return None

    def glob(self, pattern: str) -> tuple[str, ...]:
        paths = self._root.glob(pattern.lstrip("/"))
        return tuple(sorted(f"/{path.relative_to(self._root)}" for path in paths))

    def real_path(self, path: str) -> str:
        try:
            real = os.path.realpath(self._at(path))
        except OSError:  # A link that may not be read, as /proc/PID/exe of another user.
            return path
        return "/" + os.path.relpath(real, self._root) if self._root != Path("/") else real

    def run(self, argv: Sequence[str], *, patience_seconds: float = PATIENCE_SECONDS) -> Finished | None:
        if self._root != Path("/"):
            return None
        try:
            return self._host.run(argv, timeout_seconds=patience_seconds)
        except (MissingToolError, ServerError):
            return None

    def _at(self, path: str) -> Path:
        return self._root / path.lstrip("/")


def note(unread: list[Unread], machine: Machine, what: str, paths: Sequence[str]) -> None:
    """Keeps why none of `paths` could be read; nothing when one of them could."""
    reasons = [machine.refused[path] for path in paths if path in machine.refused]
    if len(reasons) < len(paths) or not reasons:
        return
    why = next((reason for reason in reasons if reason != MISSING), reasons[0])
    folder = paths[0].split("/")[1]
    if why == MISSING and folder in ("sys", "proc"):
        why = f"{paths[0]} is not there (a container may hide /{folder})"
    unread.append(Unread(what=what, why=why, hint="sudo" if why in _RIGHTS else None))
