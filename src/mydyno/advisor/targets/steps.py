"""Round numbers that people write and servers keep as they are."""

MIB = 1 << 20


def ladder(least: float) -> int:
    """The smallest of 1, 1.5, 2, 3, 4, 6, 8, 12... (times a power of two) that is not below `least`."""
    step = 1
    while step < least:
        if step > 1 and step + step // 2 >= least:
            return step + step // 2
        step *= 2
    return step


def ladder_down(most: float) -> int:
    """The largest step of the ladder that is not above `most`, and at least 1."""
    step = ladder(max(1.0, most))
    if step > most:
        step = step * 2 // 3 if step % 3 == 0 else step * 3 // 4
    return max(1, step)


def ramp(value: float, start: float, end: float) -> float:
    """0 up to `start`, 1 from `end` on, and even in between."""
    return min(1.0, max(0.0, (value - start) / (end - start)))


def up_to(value: float, unit: int) -> int:
    """`value` rounded up to whole `unit`s."""
    return -(-int(value) // unit) * unit


def down_to(value: float, unit: int) -> int:
    """`value` rounded down to whole `unit`s; 0 for what is less than one or negative."""
    return max(0, int(value) // unit * unit)
