"""Durations and percentages of the command line: each is written the same way in every command."""

import math
from typing import Any, TypeVar

from mydyno.cli.declare import option
from mydyno.core.errors import UsageError
from mydyno.core.percent import AmbiguousPercentError, parse_percent
from mydyno.core.units import parse_duration

_UNITS = (("h", 3600), ("m", 60))
_Quantity = TypeVar("_Quantity", bound=float)


class Duration(float):
    """Seconds, written `10`, `10s`, `10m` or `1h`; `str` gives them back so that they can be read again."""

    def __str__(self) -> str:
        for unit, seconds in _UNITS:
            if self >= seconds and self % seconds == 0:
                return f"{float(self) / seconds:.0f}{unit}"
        digits = f"{float(self):.9f}".rstrip("0").rstrip(".")
        return f"{digits}s"


class Percent(float):
    """A share of a whole, written `3%` or `0.03`."""

    def __str__(self) -> str:
        return f"{100 * float(self):.10g}%"


def duration(
    flag: str, text: str, least: float = 0.0, most: float = math.inf, needs_unit: bool = False, **more: Any
) -> Any:
    """An option with a `Duration`, from `least` to `most` seconds.

    `needs_unit`: a bare number is refused, where taking days for seconds would do harm.
    """

    def read(value: str | float) -> Duration:
        written = str(value).strip()
        if needs_unit and written.replace(".", "").isdecimal():
            raise UsageError(
                f"{flag} {value}: without a unit", f"{flag} {written}d, {written}h or {written}m"
            )
        try:
            seconds = Duration(parse_duration(f"{written}s" if written[-1:].isdigit() else written))
        except ValueError:
            raise UsageError(f"{flag} {value}: not a duration", "write it as 10, 10s, 10m or 1h") from None
        return _within(seconds, Duration(least), Duration(most), flag, value)

    return option(f"{flag} DURATION", text, parser=read, **more)


def percentage(flag: str, text: str, least: float = 0.0, most: float = 1.0, **more: Any) -> Any:
    """An option with a `Percent`, from `least` to `most`."""

    def read(value: str | float) -> Percent:
        try:
            share = Percent(value if isinstance(value, Percent) else parse_percent(str(value)))
        except AmbiguousPercentError as error:
            number = str(value).strip()
            raise UsageError(f"{flag} {value}: {error}?", f"write {flag} {number}% or a fraction") from None
        except ValueError:
            raise UsageError(f"{flag} {value}: not a percentage", "write it as 3% or 0.03") from None
        return _within(share, Percent(least), Percent(most), flag, value)

    return option(f"{flag} PERCENT", text, parser=read, **more)


def _within(quantity: _Quantity, least: _Quantity, most: _Quantity, flag: str, value: object) -> _Quantity:
    """Raises UsageError out of the bounds, and for `nan`."""
    if not least <= quantity <= most:
        bounds = f"at least {least}" if math.isinf(most) else f"from {least} to {most}"
        raise UsageError(f"{flag} {value}: out of bounds", bounds)
    return quantity
