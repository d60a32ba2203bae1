"""What the machine did while the server was watched."""

from __future__ import annotations

from mydyno.core.record import Record


class DiskLoad(Record):
    name: str
    """The disk's kernel name."""
    busy: float
    """The part of the time with at least one request at work."""
    reads: float
    """A second."""
    writes: float


class Load(Record):
    """Shares are of all CPUs together, 0 to 1."""

    seconds: float
    cpus: int
    """Of the machine; a container or an affinity may leave the server fewer."""
    cpu_busy: float
    """Neither idle nor waiting for a disk nor taken by the hypervisor."""
    cpu_waiting: float
    """Idle while a request to a disk was at work."""
    cpu_stolen: float
    """Taken by the hypervisor."""
    disks: tuple[DiskLoad, ...] = ()

    def disk(self, name: str) -> DiskLoad | None:
        return next((disk for disk in self.disks if disk.name == name), None)
