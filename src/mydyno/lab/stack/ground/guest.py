"""What the environments of both kinds of guest share."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.core.errors import HostError
from mydyno.lab.stack.ground.agent_ground import KERNEL_LOG_LINES, AgentGround
from mydyno.machine.uml.host import UmlHost
from mydyno.machine.vm.host import VmHost


@dataclass(eq=False)
class GuestGround(AgentGround):
    """A guest that runs."""

    host: UmlHost | VmHost

    def kernel_log(self) -> str:
        """Of a guest that does not answer any more, what its console has."""
        try:
            lines = self.host.run(["dmesg"]).stdout.splitlines()
        except HostError:
            lines = self.host.console.read_text(errors="replace").splitlines()
        return "\n".join(lines[-KERNEL_LOG_LINES:])
