"""Percentages: as text for sentences, tables and charts alike, and read where people write them."""

import math
import re

_WRITTEN = re.compile(r"(?:±|\+/-|\+-)?\s*([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*(%?)")


class AmbiguousPercentError(ValueError):
    """A bare number of 1 or more: percent, or times?"""


def parse_percent(text: str) -> float:
    """The share meant by `text`: `3%`, `±3%` and `0.03` are the same. Raises ValueError."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise ValueError("not a percentage")
    number, sign = match.groups()
    share = float(number) / (100 if sign else 1)
    if share >= 1 and not sign:
        raise AmbiguousPercentError(f"ambiguous, {number}% or {number} times")
    return share


def percent(fraction: float, digits: int = 1) -> str:
    """`12.4`, `-13.1`, `133` of 0.124, -0.131, 1.33: without decimals from 100 on."""
    value = 100 * fraction
    if not math.isfinite(value):
        return str(value)
    text = f"{value:.{digits if abs(value) < 100 else 0}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def signed_percent(ratio: float, digits: int = 1) -> str:
    """`+12.4`, `-13.1`, `0.0` of the ratios 1.124, 0.869, 1."""
    text = percent(ratio - 1, digits)
    return text if float(text) <= 0 else f"+{text}"
