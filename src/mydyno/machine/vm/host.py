"""A QEMU guest as a host: started, spoken to through its agent, powered off."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

from mydyno.core.errors import HostError
from mydyno.machine.agent import AgentHost
from mydyno.machine.channel import Channel
from mydyno.machine.identity import UNPRIVILEGED_USER, Identity
from mydyno.machine.local import LocalHost
from mydyno.machine.vm.control import Control
from mydyno.machine.vm.initrd import PROGRAMS
from mydyno.machine.vm.machine import Machine, command_line

READY_SECONDS = 120.0
"""Under TCG a guest answers after 6 to 10 s; on a machine with other work it may take many times that."""

_POWER_OFF_SECONDS = 15.0

# Debian gives these numbers to nobody and nogroup (base-passwd).
_SERVER_USER = Identity(UNPRIVILEGED_USER, 65534, 65534)


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
