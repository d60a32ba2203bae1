"""A QEMU guest as a host: started, spoken to through its agent, powered off."""

import json
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from mydyno.core.errors import HostError
from mydyno.machine.agent import AgentHost
from mydyno.machine.channel import Channel
from mydyno.machine.identity import UNPRIVILEGED_USER, Identity
from mydyno.machine.local import LocalHost
from mydyno.machine.vm.initrd import PROGRAMS
from mydyno.machine.vm.machine import Machine, command_line

READY_SECONDS = 120.0
"""Under TCG a guest answers after 6 to 10 s; on a machine with other work it may take many times that."""

_POWER_OFF_SECONDS = 15.0

# Debian gives these numbers to nobody and nogroup (base-passwd).
_SERVER_USER = Identity(UNPRIVILEGED_USER, 65534, 65534)
_ANSWER_SECONDS = 30.0


class Control:
    """QEMU's end of a connected socket. Not for two threads at once."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._stream.settimeout(_ANSWER_SECONDS)
        self._lines = stream.makefile("rb")
        self._next = 0

    def greet(self) -> None:
        """Hears the greeting and leaves the negotiation. Raises HostError."""
        self._hear()
        self.execute("qmp_capabilities")

    def execute(self, command: str, arguments: dict[str, Any] | None = None) -> Any:
        """What the command returns. Raises HostError when QEMU refuses it or has exited."""
        self._next += 1
        request = {"execute": command, "id": self._next, **({"arguments": arguments} if arguments else {})}
        try:
            self._stream.sendall(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise HostError(f"QEMU has exited ({command}): {error.strerror}") from error
        # Events come in between, and carry no id.
        while (answer := self._hear()).get("id") != self._next:
            pass
        if "error" in answer:
            raise HostError(f"QEMU refused {command}: {answer['error'].get('desc', 'it gave no reason')}")
        return answer["return"]

    def throttle(self, disk: str, iops: int | None, bytes_per_second: int | None) -> None:
        """Limits reads and writes of a disk together; None lifts that limit. Raises HostError."""
        self.execute("block_set_io_throttle", throttle_arguments(disk, iops, bytes_per_second))

    def close(self) -> None:
        self._lines.close()
        self._stream.close()

    def _hear(self) -> dict[str, Any]:
        try:
            line = self._lines.readline()
            answer = json.loads(line) if line else None
        except (OSError, ValueError) as error:
            raise HostError(f"QEMU does not answer on its control socket: {error}") from error
        if not isinstance(answer, dict):
            raise HostError("QEMU has closed its control socket")
        return answer


def throttle_arguments(disk: str, iops: int | None, bytes_per_second: int | None) -> dict[str, Any]:
    """Of block_set_io_throttle (QEMU QMP Reference Manual, BlockIOThrottle); 0 means no limit there."""
    none = {"bps_rd": 0, "bps_wr": 0, "iops_rd": 0, "iops_wr": 0}
    return {"device": f"drive-{disk}", "iops": iops or 0, "bps": bytes_per_second or 0, **none}


class VmHost(AgentHost):
    """A guest that runs. It dies with mydyno, and ends when its channel does."""

    def __init__(self, machine: Machine, console: Path, *, ready_seconds: float = READY_SECONDS) -> None:
        """Boots it and waits for its agent. `console` gets what the guest and QEMU itself say.

        Raises MissingToolError without QEMU, HostError with the end of the console when it does not come.
        """
        channel, channel_there = socket.socketpair()
        control, control_there = socket.socketpair()
        self.console = console
        self.control = Control(control)
        with channel, channel_there, control_there:
            console.touch()
            ends = [channel_there.fileno(), control_there.fileno()]
            argv = command_line(machine, channel=ends[0], control=ends[1], console=console)
            self._process = LocalHost().start(argv, output=console, inherited=ends)
            file = channel.detach()
        self._guest_channel = Channel(file, file, name="vm", console=self._output)
        try:
            super().__init__(
                self._guest_channel,
                name="vm",
                ephemeral=True,
                server_identity=_SERVER_USER,
                programs=lambda name: PROGRAMS / name,
                ready_seconds=ready_seconds,
            )
            self.control.greet()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """QEMU's, as this machine counts."""
        return self._process.pid

    def close(self) -> None:
        """Powers the guest off, or ends it by force when it does not go. May be called twice."""
        with suppress(HostError):
            if self._process.returncode() is None:
                self.power_off()
        self._guest_channel.close()
        if self._process.wait(_POWER_OFF_SECONDS) is None:
            self._process.kill()
            self._process.wait(_POWER_OFF_SECONDS)
        self.control.close()

    def _output(self) -> str:
        return self.console.read_text(errors="replace")
