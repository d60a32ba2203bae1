"""What the environments of every kind share: a host reached through an agent, disks, and their removal."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from mydyno.lab.stack.ground.ground import Disk
from mydyno.machine.agent import AgentHost

KERNEL_LOG_LINES = 20


@dataclass(eq=False)
class AgentGround:
    """An environment that runs, and everything that has to be removed again."""

    host: AgentHost
    disks: Mapping[str, tuple[Disk, ...]]
    described: Mapping[str, str]
    _taking_down: ExitStack = field(repr=False)

    @property
    def kernel(self) -> str:
        return self.host.hello.kernel

    @property
    def cpus(self) -> int:
        return self.host.hello.cpus

    def close(self) -> None:
        self._taking_down.close()
