"""Round numbers that people write and servers keep as they are."""

from __future__ import annotations

MIB = 1 << 20


def ladder(least: float) -> int:
    """The smallest of 1, 1.5, 2, 3, 4, 6, 8, 12... (times a power of two) that is not below `least`."""
    step = 1
    while step < least:
        if step > 1 and step + step // 2 >= least:
            return step + step // 2
        step *= 2
    return step


def up_to(value: float, unit: int) -> int:
    """`value` rounded up to whole `unit`s."""
    return -(-int(value) // unit) * unit


def down_to(value: float, unit: int) -> int:
    """`value` rounded down to whole `unit`s; 0 for what is less than one or negative."""
    return max(0, int(value) // unit * unit)
