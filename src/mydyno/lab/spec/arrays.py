"""Arrays of disks as numbers: what a level makes of its disks, and what it survives.

The levels are in `core.raid`. Sources: md(4) for the RAID 10 layouts, mdadm(8) for names and limits. The
number of data disks is checked against the `optimal_io_size` that a kernel 6.1 tells for each of them
(tests/lab/stack/storage).
"""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.core.raid import STRIPED, WITH_LAYOUTS, Raid, parity_disks

DEFAULT_CHUNK = 512 * 1024
"""Bytes of a chunk when none is asked for (mdadm(8), --chunk)."""

_SHORT_LAYOUTS = {
    "ls": "left-symmetric",
    "la": "left-asymmetric",
    "rs": "right-symmetric",
    "ra": "right-asymmetric",
}
_RAID10_LAYOUTS = {"n": "near", "f": "far", "o": "offset"}


@dataclass(frozen=True)
class Array:
    """An array as it is asked for: `disks` members of level `raid`; sizes in bytes, None: md's default."""

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
    """(`near`, 2) of `n2`, md's default. Raises ValueError for what is no RAID 10 layout."""
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
