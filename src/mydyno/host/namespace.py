"""Private namespaces of this machine: the same files and kernel, mounts and processes of its own.

One supervisor for each: setpriv ties it to mydyno's life, unshare gives the namespaces and kills the
agent, the first process in them, when it ends itself; and with the first process all others go, and
with them the mounts. Nothing of what is mounted or started there outlives mydyno, however it ends.
"""

from __future__ import annotations

import os
from pathlib import Path

from mydyno.core.errors import MissingToolError
from mydyno.host.agent import AgentHost
from mydyno.host.channel import Channel
from mydyno.host.identity import server_identity
from mydyno.host.local import LocalConversation, LocalHost
from mydyno.host.neutral import inherited_environment
from mydyno.host.programs import find_program

_END_SECONDS = 10.0


class PrivateNamespace:
    """A host on this machine whose mounts and processes are private and end with it."""

    def __init__(self, folder: Path) -> None:
        """Starts it; `folder`, a private one, stands in the supervisor's command line as its mark.

        Raises MissingToolError without root, HostError when it does not come up.
        """
        if os.geteuid() != 0:
            raise MissingToolError(
                "private mounts and loop devices need root",
                "run mydyno as root, or take `host: uml`, which needs none",
            )
        self._supervisor = LocalHost().open([*supervised(folder), str(find_program("mydyno-agent")), "serve"])
        try:
            self.host = AgentHost(
                _channel_of(self._supervisor),
                name="local",
                ephemeral=False,
                server_identity=server_identity(),
                environment=inherited_environment(),
            )
        except BaseException:
            self._supervisor.close()
            raise

    def close(self) -> None:
        """Ends every process in it and takes its mounts away. Nothing happens the second time."""
        self.host.close()
        self._supervisor.wait(_END_SECONDS)
        self._supervisor.close()


def mark(folder: Path) -> str:
    """The argument by which the supervisor of this private folder is known."""
    return f"--wd={folder}"


def supervised(folder: Path) -> list[str]:
    """What stands before a command that is to run as the first process of private namespaces."""
    return [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        mark(folder),
        "--",
    ]


def _channel_of(supervisor: LocalConversation) -> Channel:
    """Takes over the pipes, so that closing the channel is the end of the agent's input."""
    reader, writer = os.dup(supervisor.stdout.fileno()), os.dup(supervisor.stdin.fileno())
    supervisor.stdin.close()
    supervisor.stdout.close()
    return Channel(reader, writer, name="local", console=supervisor.errors)
