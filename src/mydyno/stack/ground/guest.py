"""What the grounds of both kinds of guest share."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from mydyno.core.errors import HostError
from mydyno.host.uml.host import UmlHost
from mydyno.host.vm.host import VmHost
from mydyno.stack.ground.ground import Disk

_LOG_LINES = 20


@dataclass(eq=False)
class GuestGround:
    """A guest that runs, its disks, and everything that has to be taken down again."""

    host: UmlHost | VmHost
    disks: Mapping[str, tuple[Disk, ...]]
    described: Mapping[str, str]
    _taking_down: ExitStack = field(repr=False)

    @property
    def kernel(self) -> str:
        return self.host.hello.kernel

    @property
    def cpus(self) -> int:
        return self.host.hello.cpus

    def kernel_log(self) -> str:
        """Of a guest that does not answer any more, what its console has."""
        try:
            lines = self.host.run(["dmesg"]).stdout.splitlines()
        except HostError:
            lines = self.host.console.read_text(errors="replace").splitlines()
        return "\n".join(lines[-_LOG_LINES:])

    def close(self) -> None:
        self._taking_down.close()
