"""What every environment gives to the layers above it: a host, disks, and the throttling of those disks."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from mydyno.core.errors import MydynoError
from mydyno.machine.agent import AgentHost

KERNEL_LOG_LINES = 20

Budget = Literal["joint", "separate"]
"""How a disk's limit counts: reads and writes together, as on cloud disks, or each on its own."""

Contents = Literal["blank", "kept", "restored"]
"""What is on the disks of an environment that has come up. `blank`: nothing. `kept`: nothing yet, and what is
built there stays when it is removed. `restored`: what was built on kept disks; it is taken over."""


@dataclass(frozen=True)
class Disk:
    """One disk of a volume on the environment's host."""

    volume: str
    """Its name: `data`, `log`..."""
    index: int
    """0-based position in its volume."""
    path: Path
    """The block device there: /dev/ubdb, /dev/vda, /dev/loop3."""
    size_bytes: int


@dataclass(frozen=True)
class DiskLimits:
    """What a disk may do; None: as much as it can."""

    iops: int | None = None
    bytes_per_second: int | None = None


@dataclass(eq=False)
class Ground(ABC):
    """A running environment with disks. Layers above it run their commands on its host."""

    host: AgentHost
    disks: Mapping[str, tuple[Disk, ...]]
    """The disks of each volume by its name."""
    described: Mapping[str, str]
    """What a result should show of it besides: a guest's kernel package, its accelerator, real disks."""
    _removal: ExitStack = field(repr=False)
    """Everything that has to be removed again."""
    kind: ClassVar[str]
    """`local`, `uml`, `vm` or `ssh`."""
    budget: ClassVar[Budget] = "separate"
    disk_model: ClassVar[str]
    """What a disk here is, what limits it, and how the limit counts, in words."""

    @property
    def kernel(self) -> str:
        """The kernel's release, as uname(1) shows it."""
        return self.host.hello.kernel

    @property
    def cpus(self) -> int:
        return self.host.hello.cpus

    @property
    def contents(self) -> Contents:
        return "blank"

    @property
    def longest_queue(self) -> int | None:
        """Requests that the queue of a disk may hold here; None: as many as its kernel likes."""
        return None

    @abstractmethod
    def throttle(self, limits: Mapping[Disk, DiskLimits]) -> None:
        """Sets the limits of these disks from now on; `DiskLimits()` lifts them. Raises StorageError."""

    def kernel_log(self) -> str:
        """The last lines of the kernel's log, for errors; empty when it cannot be read. On this machine it is
        everybody's, and they may be about something else."""
        try:
            done = self.host.run(["dmesg"])
        except MydynoError:
            return ""
        return "\n".join(done.stdout.splitlines()[-KERNEL_LOG_LINES:]) if done.returncode == 0 else ""

    def close(self) -> None:
        self._removal.close()
