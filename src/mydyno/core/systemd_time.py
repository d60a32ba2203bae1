"""Times as systemd writes them (systemd.time(7))."""

from __future__ import annotations

import math
import re

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


def span_seconds(text: str) -> float | None:
    """A time as systemd.time(7) has it: `1min 30s`, `90`, infinity; None for what is none."""
    if text == "infinity":
        return math.inf
    parts = _DURATION_PART.findall(text)
    return sum(float(number) * _SECONDS[unit or "s"] for number, unit in parts) if parts else None
