"""Numbers as the report writes them. Missing is always a dash, never a zero.

Thousands are grouped with commas, and `%` follows its number at once: no number has a space in it.
"""

import math
import re
import unicodedata
from collections.abc import Callable

from mydyno.core.percent import signed_percent

MISSING = "–"
MINUS = "\N{MINUS SIGN}"
_DIRECTIONS = frozenset(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
"""Embeddings, overrides and isolates of writing direction (Unicode Standard Annex 9)."""

_NO_BREAK = "\N{NO-BREAK SPACE}"
_UNIT = re.compile(r"(?<=\d) (?=(?:s|ms|µs|ns)\b)")
_COUNTS = re.compile(r"(?<=\d) vs (?=\d)")
_RELEASE = re.compile(r"[a-z]+-\d")
_LEVEL = re.compile(r"(\S+) = (\S+)")
_PHONE_CHARACTERS = 26
"""Of a heading, on a line of 346 pixels."""


def count(value: float | None) -> str:
    """A whole number with its thousands grouped: 46153 is `46,153`."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{value:,.0f}".replace("-", MINUS)


def number(value: float | None, digits: int = 3) -> str:
    """`value` with `digits` significant digits, never in scientific notation; whole from 100 on."""
    if value is None or not math.isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    decimals = max(0, digits - 1 - magnitude)
    return f"{round(value, decimals):,.{decimals}f}".replace("-", MINUS)


def latency(nanoseconds: float | None) -> str:
    """Nanoseconds in the unit that reads best: `850 µs`, `2.31 ms`, `1.20 s`."""
    if nanoseconds is None or not math.isfinite(nanoseconds):
        return MISSING
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(nanoseconds) >= size:
            return f"{number(nanoseconds / size)} {unit}"
    return f"{count(nanoseconds)} ns"


def duration(seconds: float | None) -> str:
    """Seconds of a stretch of work: `0.8 s`, `12 s`, `3 min 20 s`, `2 h 05 min`."""
    if seconds is None or not math.isfinite(seconds):
        return MISSING
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def seconds(value: float | None) -> str:
    """A measured time with three digits: `0.412 s`, `12.3 s`, `1,234 s`."""
    return MISSING if value is None or not math.isfinite(value) else f"{number(value)} s"


def kilobytes(value: float | None) -> str:
    """Bytes for each operation: `0.512 KB`, `16.4 KB`; 1 KB is 1024 bytes, as a server counts."""
    return MISSING if value is None or not math.isfinite(value) else f"{number(value / 1024)} KB"


def ratio(value: float | None) -> str:
    """A ratio with its sign of multiplication: `1.124×`."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{value:.3f}×" if 0.1 <= value < 10 else f"{number(value)}×"


def change(value: float | None) -> str:
    """A ratio said as a change: 1.124 is `+12.4%`, 0.98 is `−2.0%`."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{signed_percent(value).replace('-', MINUS)}%"


def interval(low: float | None, high: float | None, write: Callable[[float], str] = number) -> str:
    """Both ends of an interval in words that survive a minus sign: `−2.0% to +3.1%`."""
    if low is None or high is None:
        return MISSING
    return f"{write(low)} to {write(high)}"


def capitalised(text: str) -> str:
    """With a capital at its start, the rest as it is; the name of a release (`mysql-9.7`) is kept."""
    return text if _RELEASE.match(text) else text[:1].upper() + text[1:]


def printable(text: str) -> str:
    """`text` on one line without what would steer a terminal or turn the direction of what follows."""
    line = " ".join(text.split())
    return "".join(map(_shown, line))


def printable_lines(text: str) -> list[str]:
    """The same with its line breaks and spaces kept, tabs as spaces: what was written can be copied."""
    return ["".join(map(_shown, line.expandtabs(4))) for line in text.splitlines()]


def _shown(character: str) -> str:
    return "\N{REPLACEMENT CHARACTER}" if _steers(character) else character


def _steers(character: str) -> bool:
    """Also what no character is: XML, and so a picture, must not have it (XML 1.0, 2.2)."""
    is_none = ord(character) & 0xFFFE == 0xFFFE or unicodedata.category(character) == "Cs"
    return is_none or unicodedata.category(character) == "Cc" or character in _DIRECTIONS


def keep_together(text: str) -> str:
    """`text` with no-break spaces where a line must not end: `cache = 8`, `3 s`, `n=3 vs 4`."""
    text = _UNIT.sub(_NO_BREAK, text)
    text = _COUNTS.sub(f"{_NO_BREAK}vs{_NO_BREAK}", text)
    return _LEVEL.sub(_level, text)


def _level(found: re.Match[str]) -> str:
    # A long name and its value do not fit on a line of a phone: then only the sign stays with the value.
    before = _NO_BREAK if len(found[0]) <= _PHONE_CHARACTERS else " "
    return f"{found[1]}{before}={_NO_BREAK}{found[2]}"


def shorten(text: str, most: int) -> str:
    """`text` on one line, with its middle left out when it is longer than `most` characters."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = (most - 1) // 2
    tail = most - 1 - head
    return f"{line[:head].rstrip()}…{line[len(line) - tail :].lstrip()}"
