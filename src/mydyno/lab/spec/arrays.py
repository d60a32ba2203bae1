"""Arrays of disks as numbers: what a level makes of its disks, what it survives, how much fits on a volume.

The levels are in `core.raid`. Sources: md(4) for the RAID 10 layouts, mdadm(8) for names and limits,
mkfs.btrfs(8) for the profiles. The number of data disks is checked against the `optimal_io_size` that a
kernel 6.1 reports for each of them (tests/lab/stack/storage). The
smallest sizes of file systems were found with the programs of Debian 12 (xfsprogs 6.1, btrfs-progs 6.2,
jfsutils 1.1.15, reiserfsprogs 3.6, f2fs-tools 1.15).

mkfs passes the stripe geometry to a file system, so that it aligns its structures to the stripes.
xfs: `su` bytes on one disk and `sw` disks of data (mkfs.xfs(8), -d). ext2, ext3, ext4: `stride` and
`stripe_width` in file system blocks (mke2fs(8), -E). btrfs, jfs, reiserfs and f2fs take none.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mydyno.core.document.sizes import MEBIBYTE
from mydyno.core.raid import STRIPED, WITH_LAYOUTS, Raid, parity_disks

EXT = ("ext2", "ext3", "ext4")
EXT_BLOCK = 4096
"""Bytes of an ext block. mke2fs takes 1K below 512 MiB (mke2fs.conf(5), `small`); mydyno asks for 4K."""

_XFS_OWN = re.compile(r"(?:^|,)(?:su|sw|sunit|swidth|noalign)\b")
_EXT_OWN = re.compile(r"(?:^|,)(?:stride|stripe[-_]width)=")


@dataclass(frozen=True)
class Alignment:
    """What mkfs gets: `options` for its command line, `shown` for people and results."""

    options: tuple[str, ...]
    shown: str


def mkfs_words(options: Sequence[str]) -> tuple[str, ...]:
    """The words of the command line: `-i size=1024` may be written as one text or as two.

    Raises ValueError for a quote that is not closed.
    """
    return tuple(word for option in options for word in shlex.split(option))


def ext_block(words: Sequence[str]) -> int:
    """Bytes of a block: the user's own `-b`, else what mydyno asks for."""
    value = option_value(words, "-b")
    return int(value) if value is not None and value.isdecimal() else EXT_BLOCK


def alignment(filesystem: str, stripe: Stripe | None, words: Sequence[str]) -> Alignment | None:
    """How to align `filesystem` with `stripe`; None where there are no stripes, or the user does it.

    `words` are the user's own mkfs options: what they say of stripes is kept.
    """
    if stripe is None:
        return None
    if filesystem == "xfs" and not _XFS_OWN.search(option_value(words, "-d") or ""):
        shown = f"su={stripe.chunk},sw={stripe.data_disks}"
        return Alignment(("-d", shown), shown)
    if filesystem in EXT and not _EXT_OWN.search(option_value(words, "-E") or ""):
        block = ext_block(words)
        if stripe.chunk % block:
            return None
        shown = f"stride={stripe.chunk // block},stripe_width={stripe.width // block}"
        return Alignment(("-E", shown), shown)
    return None


def option_value(words: Sequence[str], flag: str) -> str | None:
    """The value of a short option, `-d su=4k` or `-dsu=4k`; several are joined by commas; None: not there."""
    values = []
    for word, following in zip(words, (*words[1:], ""), strict=False):
        if word == flag:
            values.append(following)
        elif word.startswith(flag):
            values.append(word.removeprefix(flag))
    return ",".join(values) if values else None


DEFAULT_CHUNK = 512 * 1024
"""Bytes of a chunk when none is configured (mdadm(8), --chunk)."""

_SHORT_LAYOUTS = {
    "ls": "left-symmetric",
    "la": "left-asymmetric",
    "rs": "right-symmetric",
    "ra": "right-asymmetric",
}
_RAID10_LAYOUTS = {"n": "near", "f": "far", "o": "offset"}


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
SMALLEST_STRIPED_XFS = 520 * MEBIBYTE
"""On stripes xfs makes more allocation groups, and its log must fit into one of them."""
_BTRFS_COPIES = {"dup": 2, "raid1": 2, "raid1c3": 3, "raid1c4": 4, "raid10": 2}
_BTRFS_PARITY = {"raid5": 1, "raid6": 2}


@dataclass(frozen=True)
class Array:
    """An array as configured: `disks` members of level `raid`; sizes in bytes, None: md's default."""

    raid: Raid
    disks: int
    chunk: int | None = None
    layout: str | None = None


@dataclass(frozen=True)
class Stripe:
    """How an array spreads data: `chunk` bytes on one disk, then the next, over `data_disks` of them."""

    chunk: int
    data_disks: int

    @property
    def width(self) -> int:
        """Bytes of one stripe's data: what a write must cover for parity to need no reading."""
        return self.chunk * self.data_disks


def stripe_of(array: Array) -> Stripe | None:
    """The stripes of an array; None for what has none (one disk, a mirror, a concatenation)."""
    if array.raid not in STRIPED:
        return None
    return Stripe(array.chunk or DEFAULT_CHUNK, _data_disks(array))


def raid10_copies(layout: str | None) -> tuple[str, int]:
    """(`near`, 2) of `n2`, md's default. Raises ValueError for an unknown RAID 10 layout."""
    text = layout or "n2"
    if text[:1] not in _RAID10_LAYOUTS or not text[1:].isdecimal():
        raise ValueError(f"not a RAID 10 layout: {text!r}")
    return _RAID10_LAYOUTS[text[0]], int(text[1:])


def layout_shown(array: Array) -> str | None:
    """The layout as `mdadm --detail` shows it: `near=2`, `left-symmetric`; None where there is only one."""
    if array.raid == 10:
        name, copies = raid10_copies(array.layout)
        return f"{name}={copies}"
    if array.raid in WITH_LAYOUTS:
        layout = array.layout or "left-symmetric"
        return _SHORT_LAYOUTS.get(layout, layout)
    return None


def most_failures(array: Array) -> int:
    """How many members may fail, well chosen, before data is lost."""
    if array.raid == 1:
        return array.disks - 1
    if array.raid == 10:
        _, copies = raid10_copies(array.layout)
        return (copies - 1) * _mirror_groups(array)
    return parity_disks(array.raid)


def failing_members(array: Array, count: int) -> tuple[int, ...]:
    """The members (0-based) to fail so that the array survives: one of each mirror before a second of one."""
    if array.raid != 10:
        return tuple(range(count))
    _, copies = raid10_copies(array.layout)
    groups = _mirror_groups(array)
    return tuple(index % groups * copies + index // groups for index in range(count))


def _mirror_groups(array: Array) -> int:
    """Sets of RAID 10 members that fail independently: with `near` and a fitting number, each mirror is one.

    In the other layouts neighbours hold each other's copies, all around the array: one set.
    """
    name, copies = raid10_copies(array.layout)
    return array.disks // copies if name == "near" and array.disks % copies == 0 else 1


def _data_disks(array: Array) -> int:
    if array.raid == 10:
        name, copies = raid10_copies(array.layout)
        # A far or offset array is read and written along all of its disks, the copies elsewhere on them;
        # near copies that do not divide the disks come round only after all of them.
        return array.disks // copies if name == "near" and array.disks % copies == 0 else array.disks
    return array.disks - parity_disks(array.raid)


if TYPE_CHECKING:
    from mydyno.lab.spec.storage import Volume


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
