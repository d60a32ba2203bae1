"""A host that is served by an agent on this machine: a child of mydyno's, in namespaces if wanted.

setpriv ties unshare to mydyno's life; unshare gives the namespaces and kills the agent, the first
process in them, when it ends itself; with the first process all others go, and with them the mounts.
No mount and no process there outlives mydyno, however it ends.
"""

import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from mydyno.core.errors import MissingToolError
from mydyno.machine.agent import AgentHost
from mydyno.machine.channel import Channel
from mydyno.machine.identity import Identity, server_identity
from mydyno.machine.local import launch
from mydyno.machine.programs import find_program, inherited_environment

AGENT = "mydyno-agent"

_ENDS_WITHIN_SECONDS = 10.0


READY_SECONDS = 30.0


def serving() -> list[str]:
    """The command of this machine's agent. Raises MissingToolError."""
    return [str(find_program(AGENT)), "serve"]


class SupervisedHost(AgentHost):
    """All that is started on it ends with it: at `close`, or when mydyno itself is killed."""

    def __init__(
        self,
        *,
        command: Sequence[str] = (),
        name: str,
        ephemeral: bool,
        server_identity: Identity | None,
        environment: Mapping[str, str] | None = None,
        alive_seconds: float | None = None,
        ready_seconds: float = READY_SECONDS,
    ) -> None:
        """`command` becomes the agent, or gives its stream; default: this machine's agent.

        Raises MissingToolError for a program that is not there, HostError with what was said when the
        agent does not come up.
        """
        ours, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the agent)
        try:
            with theirs:
                self._child = launch(
                    command or serving(),
                    None,
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=self._errors,
                )
        except BaseException:
            ours.close()
            self._errors.close()
            raise
        file = ours.detach()
        self._agent_channel = Channel(file, file, name=name, console=self.errors, alive_seconds=alive_seconds)
        try:
            super().__init__(
                self._agent_channel,
                name=name,
                ephemeral=ephemeral,
                server_identity=server_identity,
                environment=environment,
                ready_seconds=ready_seconds,
            )
        except BaseException as error:
            why = self._explained(error)
            self.close()
            if why is error:
                raise
            raise why from error

    @property
    def pid(self) -> int:
        """The child of mydyno's, as this machine counts."""
        return self._child.pid

    def close(self) -> None:
        """Ends the agent and every process that it started. May be called twice."""
        self._agent_channel.close()
        try:
            self._child.wait(_ENDS_WITHIN_SECONDS)
        except subprocess.TimeoutExpired:
            self._end_child()
        self._errors.close()

    def _end_child(self) -> None:
        """It did not end with its channel."""
        self._child.kill()
        self._child.wait()

    def _explained(self, error: BaseException) -> BaseException:
        """Why it does not come up."""
        return error

    def errors(self) -> str:
        """What it has written to its standard error so far."""
        size = os.fstat(self._errors.fileno()).st_size
        return os.pread(self._errors.fileno(), size, 0).decode(errors="replace")


class NamespaceHost(SupervisedHost):
    """This machine with mounts and processes that are private and end with mydyno, or at `close`.

    Files are the machine's own, so it is not ephemeral. Process numbers are those of its namespace.
    """

    def __init__(self, folder: Path) -> None:
        """`folder`, a private one, is in the supervisor's command line as its mark.

        Raises MissingToolError without root, HostError when it does not come up.
        """
        if os.geteuid() != 0:
            raise MissingToolError(
                "private mounts and loop devices need root",
                "run mydyno as root, or take `host: uml`, which needs none",
            )
        super().__init__(
            command=[*_PRIVATE, mark(folder), "--", *serving()],
            name="local",
            ephemeral=False,
            server_identity=server_identity(),
            environment=inherited_environment(),
        )


_PRIVATE = (
    "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"
)  # fmt: skip


def mark(folder: Path) -> str:
    """The argument by which the supervisor of this private folder is known."""
    return f"--wd={folder}"
