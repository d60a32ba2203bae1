"""How much fits on a volume, and how much a file system takes at least. Bytes; before the file system's own.

Sources: md(4) for the levels, mkfs.btrfs(8) for the profiles. The smallest sizes were found with the
programs of Debian 12 (xfsprogs 6.1, btrfs-progs 6.2, jfsutils 1.1.15, reiserfsprogs 3.6, f2fs-tools 1.15).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mydyno.core.document.sizes import MEBIBYTE
from mydyno.core.raid import parity_disks
from mydyno.lab.spec.arrays import Array, raid10_copies

if TYPE_CHECKING:
    from mydyno.lab.spec.storage import Volume

SMALLEST = {
    "ext2": MEBIBYTE,
    "ext3": 4 * MEBIBYTE,
    "ext4": 4 * MEBIBYTE,
    "xfs": 300 * MEBIBYTE,
    "btrfs": 109 * MEBIBYTE,
    "jfs": 16 * MEBIBYTE,
    "reiserfs": 33 * MEBIBYTE,
    "f2fs": 52 * MEBIBYTE,
}
"""File system -> bytes of the smallest device that its mkfs takes; btrfs: of each disk."""

_BTRFS_COPIES = {"dup": 2, "raid1": 2, "raid1c3": 3, "raid1c4": 4, "raid10": 2}
_BTRFS_PARITY = {"raid5": 1, "raid6": 2}


def array_of(volume: Volume) -> Array:
    """The array that a volume asks for."""
    return Array(volume.raid, volume.disks.number, volume.chunk, volume.layout)


def usable_bytes(volume: Volume) -> int | None:
    """What the volume holds, rounded down; None with real disks, whose size the plan does not know here."""
    size, disks = volume.disks.size, volume.disks.number
    if volume.disks.devices:
        return None
    if volume.filesystem == "btrfs" and volume.raid == "none":
        profile = volume.data_profile or "single"
        return size * (disks - _BTRFS_PARITY.get(profile, 0)) // _BTRFS_COPIES.get(profile, 1)
    match volume.raid:
        case 1:
            return size
        case 10:
            return size * disks // raid10_copies(volume.layout)[1]
        case raid:
            return size * (disks - parity_disks(raid))
