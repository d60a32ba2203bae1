"""The environments that a server and its storage can be built on: one table of what differs between them.

What one can do on this machine is found out by `lab/plan/grounds.py`; how it is built is a layer
(`lab/stack/ground`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

HostKind = Literal["local", "uml", "vm", "ssh"]
"""As `setup.host` names it."""


@dataclass(frozen=True)
class GroundKind:
    kind: HostKind
    title: str
    """For a report: `a QEMU guest`."""
    about: str
    """For `mydyno doctor`: `QEMU guests`."""
    is_guest: bool
    needs_root: bool
    most_disks: int
    storage_seconds: float
    """Building disks, array and file system, with the boot of a guest."""
    slowdown: tuple[float, float]
    """Least and most of the assumed part of a trial that it takes in reality, where nothing like it was run
    before. From the shipped experiments on 2 cores; guests without KVM or on a busy machine are slower by
    whole factors."""
    tolerance: float
    """The largest deviation of a self-check from theory, as a share of it, that needs no warning."""
    cold_cache: str
    """What `cache: cold` does there."""


_TABLE = (
    GroundKind(
        "local",
        title="this machine itself",
        about="this machine itself",
        is_guest=False,
        needs_root=True,
        most_disks=128,
        storage_seconds=2.0,
        slowdown=(0.8, 2.0),
        # Limits of a cgroup, on loops over files of a disk whose other users are not known.
        tolerance=0.15,
        cold_cache="the pages of the clone's files are dropped from this machine's page cache",
    ),
    GroundKind(
        "uml",
        title="a User-Mode Linux guest",
        about="User-Mode Linux guests",
        is_guest=True,
        needs_root=False,
        most_disks=16,  # ubda to ubdp: MAX_DEV in the kernel's arch/um/drivers/ubd_kern.c.
        storage_seconds=4.0,
        slowdown=(0.8, 4.0),
        # Limits and load share the guest's one CPU, and blkio deals out its budget in slices of a tenth of a
        # second: up to 8% were measured on bare arrays, 13% on file systems over four disks.
        tolerance=0.15,
        cold_cache="the guest's own page cache is dropped; this machine's, below its disks, stays warm",
    ),
    GroundKind(
        "vm",
        title="a QEMU guest",
        about="QEMU guests",
        is_guest=True,
        needs_root=False,
        most_disks=128,  # 16 PCI slots of 8.
        storage_seconds=30.0,
        slowdown=(0.8, 3.0),
        # The disks are QEMU's, outside the guest, and their limits are kept within 1%; what remains is the
        # queue of one disk running empty while another's is long, up to 6% with four disks.
        tolerance=0.10,
        cold_cache="the guest's own page cache is dropped, and its disks go past this machine's",
    ),
    GroundKind(
        "ssh",
        title="another machine",
        about="other machines",
        is_guest=False,
        needs_root=False,  # With storage it does.
        most_disks=128,
        storage_seconds=4.0,
        slowdown=(0.8, 2.0),
        # Limits and loop devices are those of `local`.
        tolerance=0.15,
        cold_cache="the pages of the clone's files are dropped from that machine's page cache",
    ),
)
GROUNDS: dict[HostKind, GroundKind] = {ground.kind: ground for ground in _TABLE}
BY_NAME: Mapping[str, GroundKind] = {ground.kind: ground for ground in _TABLE}
"""For names that come from a lab, which may be another mydyno's."""
KINDS: tuple[HostKind, ...] = tuple(GROUNDS)
GUESTS: tuple[HostKind, ...] = tuple(ground.kind for ground in _TABLE if ground.is_guest)
