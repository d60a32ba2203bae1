"""Another machine as a host: its agent over the stream of a launcher, and the session's private folder."""

from __future__ import annotations

import secrets
import subprocess
import time
from contextlib import closing, suppress
from pathlib import Path

from mydyno.core.errors import HostError, MydynoError
from mydyno.machine.channel import UNANSWERED
from mydyno.machine.hosts.entry import HostEntry
from mydyno.machine.hosts.install import (
    MISSING,
    MOUNTS,
    SILENCE_SECONDS,
    TRIALS,
    Program,
    copy,
    notes,
    own_programs,
    refusal,
    serve_line,
)
from mydyno.machine.hosts.launcher import Launcher, launcher_of
from mydyno.machine.identity import UNPRIVILEGED_USER, Identity
from mydyno.machine.programs import far_environment
from mydyno.machine.supervised import AGENT, SupervisedHost

_ALIVE_SECONDS = SILENCE_SECONDS / UNANSWERED
_READY_SECONDS = 60.0
_ENDING_SECONDS = 5.0
_NOTE_SECONDS = 30.0


class RemoteHost(SupervisedHost):
    """A machine that answers. Whatever is started on it ends with it: at `close`, when mydyno is killed, or
    when the network is cut for SILENCE_SECONDS; so does the session's folder. A far side that is silent for
    so long, without an end of its stream, is lost."""

    def __init__(
        self, launcher: Launcher, entry: HostEntry, programs: tuple[Program, ...], session: str | None
    ) -> None:
        self._launcher = launcher
        self.session = session
        super().__init__(
            command=launcher.command(serve_line(entry, programs, session)),
            name=launcher.address,
            ephemeral=True,
            server_identity=None,
            environment=far_environment(),
            alive_seconds=_ALIVE_SECONDS,
            ready_seconds=_READY_SECONDS,
        )
        self._programs = lambda name: self._place_of(name, programs)
        try:
            self.folder = self._noted_folder()
            """mydyno's own there."""
            self.user = self._output_of("id", "-un")
            self.is_root = self._output_of("id", "-u") == "0"
            self.server_identity = self._unprivileged() if self.is_root else None
        except BaseException:
            self.close()
            raise

    @property
    def work_folder(self) -> Path | None:
        return self.trial_folder if self.session is not None else self.folder

    @property
    def trial_folder(self) -> Path:
        """The session's, which goes with it."""
        assert self.session is not None
        return self.folder / TRIALS / self.session

    @property
    def has_private_mounts(self) -> bool:
        """Whether what is mounted there goes with the session."""
        return MOUNTS in notes(self.errors())

    def limit(self, seconds: float) -> None:
        """It is not needed for longer from now on. Raises HostError."""
        self._launcher.limit(seconds)

    def _end_child(self) -> None:
        """The far side is silent, so its launcher waits for an end that does not come."""
        with suppress(MydynoError):
            self._launcher.give_up()
        self._child.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(_ENDING_SECONDS)
        super()._end_child()

    def _place_of(self, name: str, programs: tuple[Program, ...]) -> Path:
        (place,) = (each.place for each in programs if each.name == name)
        return self.folder / "programs" / place

    def _noted_folder(self) -> Path:
        """It is noted before the agent starts, but on another stream, which may be later."""
        deadline = time.monotonic() + _NOTE_SECONDS
        while (folder := notes(self.errors()).get("folder")) is None:
            if time.monotonic() > deadline:
                raise HostError(f"{self.name}: its folder for mydyno was not noted on standard error")
            time.sleep(0.01)
        return Path(folder)

    def _unprivileged(self) -> Identity:
        uid, gid = (int(self._output_of("id", option, UNPRIVILEGED_USER)) for option in ("-u", "-g"))
        return Identity(UNPRIVILEGED_USER, uid, gid)

    def _output_of(self, *argv: str) -> str:
        done = self.run(argv)
        if done.returncode != 0:
            raise HostError(f"{self.name}: `{' '.join(argv)}`: {done.stderr.strip()}")
        return done.stdout.strip()

    def _explained(self, error: BaseException) -> BaseException:
        if not isinstance(error, HostError):
            return error
        try:
            self._child.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return error
        if MISSING in notes(self.errors()):
            return MissingProgramsError(self.name)
        return refusal(self._launcher, self.errors())


class MissingProgramsError(HostError):
    """The machine has not all of mydyno's programs, or damaged ones."""


def connect(entry: HostEntry, *, session: bool = False, launcher: Launcher | None = None) -> RemoteHost:
    """Connects, and copies mydyno's programs when they are not there.

    `session`: with a private folder, which one run at a time may have. `launcher`: another than the entry's
    own. Raises HostError, MissingToolError.
    """
    launcher, programs = launcher or launcher_of(entry), own_programs()
    name = f"mydyno-{secrets.token_hex(6)}" if session else None
    try:
        return RemoteHost(launcher, entry, programs, name)
    except MissingProgramsError:
        copy(launcher, entry, programs)
    return RemoteHost(launcher, entry, programs, name)


def sweep(entry: HostEntry) -> tuple[str, ...]:
    """Ends and removes what killed runs have left there; gives the folders.

    Raises HostError, also while a run is there.
    """
    with closing(connect(entry)) as host:
        done = host.run([str(host.program(AGENT)), "sweep", str(host.folder / TRIALS)])
        if done.returncode != 0:
            raise refusal(launcher_of(entry), host.errors() + done.stderr)
        return tuple(done.stdout.splitlines())
