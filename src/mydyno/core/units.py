"""Quantities as a DBA writes them, and back.

Sizes count in powers of 1024 with the suffixes that my.cnf takes (MySQL Reference Manual,
"Program Option Modifiers"): 16K is 16,384 bytes.
"""

import math
import re
from fractions import Fraction

from mydyno.core.plurals import counted

_LONG_UNITS = ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute"))
_SIZE_SUFFIXES = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
# More digits than any quantity has: int and float of them would be endless or infinite.
_NUMBER = r"([0-9]{1,30}(?:\.[0-9]{1,30})?)"
_SIZE = re.compile(_NUMBER + r"\s*([KMGTP]?)(?:i?B)?", re.IGNORECASE)
_DURATION_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_DURATION = re.compile(_NUMBER + r"\s*(ns|us|ms|s|min|m|h|d)")
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|min|h|d|w|month|y)?")
_SECONDS = {
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "w": 604800.0,
    "month": 2_629_800.0,
    "y": 31_557_600.0,
}


def parse_bytes(text: str) -> int:
    """Bytes meant by `text` (`2G`, `512 K`, `128MiB`, `4096`). Raises ValueError."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a size: {text[:80]!r} (write a number with K, M, G or T, like 512M)")
    number, suffix = match.groups()
    value = Fraction(number) * 1024 ** _SIZE_SUFFIXES[suffix.upper()]
    if value.denominator != 1:
        raise ValueError(f"not a whole number of bytes: {text!r}")
    return int(value)


def bytes_or_none(text: str) -> int | None:
    """The same; None for what is not a size."""
    try:
        return parse_bytes(text)
    except ValueError:
        return None


def format_bytes(count: int) -> str:
    """`count` bytes with the largest suffix that keeps it short: 1536 is `1.5K`."""
    for suffix in ("P", "T", "G", "M", "K"):
        unit = 1024 ** _SIZE_SUFFIXES[suffix]
        if abs(count) >= unit:
            value = count / unit
            return f"{value:.0f}{suffix}" if value == int(value) else f"{value:.1f}{suffix}"
    return str(count)


def parse_duration(text: str) -> float:
    """Seconds meant by `text` (`10ms`, `1.5s`, `2m`, `1h`). A bare number has no unit and is refused.

    Raises ValueError.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a duration: {text[:80]!r} (write a number with ms, s, m or h, like 30s)")
    number, unit = match.groups()
    return float(number) * _DURATION_UNITS[unit]


def format_duration(seconds: float) -> str:
    """`seconds` in the two units that a person needs: `850ms`, `12.5s`, `3m 20s`, `2h 05m`."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f}us"
    if seconds < 1:
        return f"{seconds * 1e3:.0f}ms"
    if seconds < 60:
        return f"{seconds:.3g}s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def format_range(low: float, high: float) -> str:
    """Two lengths of time in whole units that both can be said in: `40 to 90 seconds`, `12 to 25 minutes`.

    The unit is the largest of which `high` has at least 2. Equal ends are one: `about 3 minutes`.
    """
    scale, unit = next(((scale, unit) for scale, unit in _LONG_UNITS if high >= 2 * scale), (1, "second"))
    first, last = round(low / scale), max(1, round(high / scale))
    if first == last or last == 1:
        return f"about {counted(last, unit)}"
    return f"{first} to {last} {unit}s" if first else f"up to {last} {unit}s"


def span_seconds(text: str) -> float | None:
    """A time as systemd.time(7) has it: `1min 30s`, `90`, infinity; None for what is none."""
    if text == "infinity":
        return math.inf
    parts = _DURATION_PART.findall(text)
    return sum(float(number) * _SECONDS[unit or "s"] for number, unit in parts) if parts else None
