"""Percentages as text, for sentences, tables and charts alike."""

from __future__ import annotations

import math


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
