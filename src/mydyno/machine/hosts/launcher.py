"""How another machine is reached: a command of this machine that runs a line of shell there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from mydyno.core.errors import HostError
from mydyno.machine.hosts.entry import HostEntry
from mydyno.machine.hosts.slurm import SlurmLauncher
from mydyno.machine.hosts.ssh import SshLauncher


class Launcher(Protocol):
    """What is particular to one way to another machine; the agent and its frames are the same over all."""

    @property
    def address(self) -> str:
        """For messages: `ssh:db1`."""

    def command(self, line: str) -> list[str]:
        """The command whose standard input, output and error are those of the shell line there.

        Bytes come through unchanged, and the line ends when its standard input does.
        """

    def explained(self, errors: str) -> HostError:
        """Why it failed, from what the command has written to standard error."""

    def give_up(self) -> None:
        """Ends there what does not end with the command. Raises HostError."""

    def limit(self, seconds: float) -> None:
        """It is not needed for longer from now on. Raises HostError."""


_LAUNCHERS: Mapping[str, Callable[[HostEntry], Launcher]] = {"ssh": SshLauncher, "slurm": SlurmLauncher}


def launcher_of(entry: HostEntry) -> Launcher:
    return _LAUNCHERS[entry.launcher](entry)
