"""Values with a unit, as annotations for the fields of the sections.

A field holds the plain number (seconds, events per second, a count); the text with its unit is what
the file has and what a saved plan has, so both can be read back.
"""

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from mydyno.core.document.base import Fault, refuse
from mydyno.core.units import format_duration, parse_duration

MOST_CONNECTIONS = 100_000
"""The largest max_connections that MySQL and MariaDB take."""
MOST_PHASES = 1_000

_DURATION_ALLOWED = "a time with its unit, as 500ms, 10s or 2m"
_DURATION_PATTERN = r"^\s*\d+(\.\d+)?\s*(ns|us|ms|s|min|m|h|d)\s*$"
_DURATION_WORDS = {
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "msecs": "ms", "millis": "ms",
    "milliseconds": "ms", "mins": "m", "minute": "m", "minutes": "m", "hr": "h", "hrs": "h", "hour": "h",
    "hours": "h", "days": "d", "day": "d",
}  # fmt: skip
_RATE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kM]?)\s*/\s*(s|min)\s*")
_RATE_ALLOWED = "transactions a second (or a minute), as 1000/s, 2.5k/s or 600/min"
_COUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kKMG])\s*")
_COUNT_FACTORS = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}
_RANGE = re.compile(r"\s*(\d+)\s*\.\.\s*(\d+)(?:\s+step\s+(\d+))?\s*")
_CONNECTIONS_SCHEMA: list[JsonSchemaValue] = [
    {"type": "integer", "minimum": 1, "maximum": MOST_CONNECTIONS},
    {"type": "string", "pattern": r"^\s*\d+\s*(\.\.\s*\d+(\s+step\s+\d+)?)?\s*$"},
]
_CONNECTIONS_ALLOWED = "a number, a range as 10..400 step 10, or a list of both"


class Rule(ABC):
    """Ties `read` (file or JSON to number) and `write` (number to JSON) to a field."""

    schema: ClassVar[JsonSchemaValue]

    @abstractmethod
    def read(self, raw: Any) -> Any:
        """The number that `raw` means."""

    def write(self, value: Any) -> Any:
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        writer = core_schema.plain_serializer_function_ser_schema(self.write, when_used="json")
        return core_schema.no_info_plain_validator_function(self.read, serialization=writer)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return dict(self.schema)


@dataclass(frozen=True)
class DurationRule(Rule):
    """Seconds, from `10ms`, `1.5s`, `2m`. A bare number but 0 is refused: its unit is unknown."""

    at_least: float = 0.0
    at_most: float = 86_400.0
    schema: ClassVar[JsonSchemaValue] = {
        "anyOf": [{"type": "string", "pattern": _DURATION_PATTERN}, {"const": 0}]
    }

    def read(self, raw: Any) -> float:
        if type(raw) in (int, float) and raw == 0:
            seconds = 0.0
        elif isinstance(raw, str):
            try:
                seconds = parse_duration(raw)
            except ValueError:
                raise refuse(_duration_fault(raw)) from None
        else:
            raise refuse(_duration_fault(raw))
        if seconds < self.at_least:
            raise refuse(Fault("is too short", allowed=f"{format_duration(self.at_least)} or more"))
        if seconds > self.at_most:
            raise refuse(Fault("is too long", allowed=f"{format_duration(self.at_most)} or less"))
        return seconds

    def write(self, value: float) -> str:
        return f"{_decimal(value)}s"


def _duration_fault(raw: Any) -> Fault:
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        if raw < 0:
            return Fault("must not be negative", allowed=_DURATION_ALLOWED)
        return Fault("has no unit", allowed=_DURATION_ALLOWED, nearest=f"{raw:g}s")
    text = raw if isinstance(raw, str) else ""
    if re.fullmatch(r"\s*-\s*\d.*", text):
        return Fault("must not be negative", allowed=_DURATION_ALLOWED)
    number_and_word = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if number_and_word:
        number, word = number_and_word.groups()
        if not word:
            return Fault("has no unit", allowed=_DURATION_ALLOWED, nearest=f"{number}s")
        unit = _DURATION_WORDS.get(word.lower()) or (
            word.lower() if word.lower() in "ns us ms s m h d" else None
        )
        nearest = f"{number}{unit}" if unit else None
        return Fault("has a unit that is not a time unit", allowed=_DURATION_ALLOWED, nearest=nearest)
    return Fault("is not a time", allowed=_DURATION_ALLOWED)


@dataclass(frozen=True)
class RateRule(Rule):
    """Transactions a second over all connections, from `1000/s`, `2.5k/s`, `600/min`."""

    schema: ClassVar[JsonSchemaValue] = {
        "type": "string",
        "pattern": r"^\s*\d+(\.\d+)?\s*[kM]?\s*/\s*(s|min)\s*$",
    }

    def read(self, raw: Any) -> float:
        match = _RATE.fullmatch(raw) if isinstance(raw, str) else None
        if match is None:
            raise refuse(_rate_fault(raw))
        number, suffix, unit = match.groups()
        rate = float(number) * _COUNT_FACTORS[suffix] / (60 if unit == "min" else 1)
        if not 0 < rate <= 10_000_000:
            raise refuse(Fault("is out of bounds", allowed="more than 0 and at most 10M/s"))
        return rate

    def write(self, value: float) -> str:
        return f"{_decimal(value)}/s"


def _rate_fault(raw: Any) -> Fault:
    bare = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:tps|qps|/sec|/second|per second)?\s*", str(raw))
    nearest = f"{bare.group(1)}/s" if bare else None
    what = "has no unit" if bare and not isinstance(raw, str) else "is not a rate"
    return Fault(what, allowed=_RATE_ALLOWED, nearest=nearest)


@dataclass(frozen=True)
class CountRule(Rule):
    """A whole number, also as `20k`, `50M`: thousands and millions, not powers of 1024."""

    at_least: int = 0
    at_most: int = 1_000_000_000
    schema: ClassVar[JsonSchemaValue] = {
        "anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*[kKMG]\s*$"}]
    }

    def read(self, raw: Any) -> int:
        bounds = f"a whole number from {self.at_least:,} to {self.at_most:,}, as 90000, 20k or 50M"
        if isinstance(raw, int) and not isinstance(raw, bool):
            count = raw
        elif isinstance(raw, str) and (match := _COUNT.fullmatch(raw)):
            exact = Decimal(match.group(1)) * _COUNT_FACTORS[match.group(2)]
            if exact != int(exact):
                raise refuse(Fault("is not a whole number", allowed=bounds))
            count = int(exact)
        else:
            number = re.fullmatch(r"(\d{1,3}(?:[,' ]\d{3})+)", raw.strip()) if isinstance(raw, str) else None
            digits = re.sub(r"\D", "", raw) if number else None
            raise refuse(Fault("is not a whole number", allowed=bounds, nearest=digits))
        if not self.at_least <= count <= self.at_most:
            raise refuse(Fault("is out of bounds", allowed=bounds))
        return count

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        number, text = self.schema["anyOf"]
        return {"anyOf": [{**number, "minimum": self.at_least, "maximum": self.at_most}, text]}


@dataclass(frozen=True)
class ConnectionsRule(Rule):
    """The numbers of connections that a trial steps through, one phase each, in the order written."""

    schema: ClassVar[JsonSchemaValue] = {
        "anyOf": [
            *_CONNECTIONS_SCHEMA,
            {"type": "array", "minItems": 1, "items": {"anyOf": _CONNECTIONS_SCHEMA}},
        ]
    }

    def read(self, raw: Any) -> tuple[int, ...]:
        items = list(raw) if isinstance(raw, list | tuple) else [raw]
        if not items:
            raise refuse(Fault("is empty", allowed=_CONNECTIONS_ALLOWED))
        faults: list[Fault] = []
        counts: dict[int, int] = {}
        for index, item in enumerate(items):
            at = (index,) if isinstance(raw, list | tuple) else ()
            read = _read_counts(item, at)
            if isinstance(read, Fault):
                faults.append(read)
                continue
            again = [count for count in read if count in counts]
            if again:
                faults.append(Fault(f"gives {again[0]} connections twice", allowed="each number once", at=at))
            counts.update((count, index) for count in read)
        if not faults and len(counts) > MOST_PHASES:
            faults.append(Fault(f"makes {len(counts):,} phases a trial", allowed=f"at most {MOST_PHASES:,}"))
        if faults:
            raise refuse(*faults)
        return tuple(counts)

    def write(self, value: tuple[int, ...]) -> list[int]:
        return list(value)


def _read_counts(item: Any, at: tuple[int, ...]) -> range | Fault:
    """The numbers that one item of a connections list stands for."""
    if isinstance(item, int) and not isinstance(item, bool):
        first, last, step = item, item, 1
    elif isinstance(item, str) and re.fullmatch(r"\s*\d{1,9}\s*", item):
        first, last, step = int(item), int(item), 1
    elif isinstance(item, str) and (match := _RANGE.fullmatch(item)) and len(item) < _LONGEST_RANGE:
        first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
    else:
        return Fault(
            "is not a number of connections", allowed=_CONNECTIONS_ALLOWED, nearest=_likely_range(item), at=at
        )
    if step == 0:
        return Fault("has a step of 0", allowed="a step of 1 or more", at=at)
    if last < first:
        return Fault(
            "runs downwards", allowed="the smaller number first", nearest=_written(last, first, step), at=at
        )
    if first < 1 or last > MOST_CONNECTIONS:
        return Fault("is out of bounds", allowed=f"from 1 to {MOST_CONNECTIONS:,} connections", at=at)
    counts = range(first, last + 1, step)
    if len(counts) > MOST_PHASES:
        return Fault(f"makes {len(counts):,} phases a trial", allowed=f"at most {MOST_PHASES:,}", at=at)
    return counts


_LONGEST_RANGE = 40


def _likely_range(item: Any) -> str | None:
    """What a range in another notation (10-400, 10..400..10, 10 to 400 by 10) is here."""
    if not isinstance(item, str) or not re.fullmatch(
        r"\s*\d{1,6}\s*(-|:|to|\.+)\s*\d{1,6}\D{0,8}(\d{1,6})?\s*", item
    ):
        return None
    numbers = [int(number) for number in re.findall(r"\d+", item)]
    return _written(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 1)


def _written(first: int, last: int, step: int) -> str:
    return f"{first}..{last}" + (f" step {step}" if step != 1 else "")


def _decimal(value: float) -> str:
    """`value` exactly, without an exponent, so that it reads back as the same number."""
    assert math.isfinite(value)
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


Duration = Annotated[float, DurationRule()]
"""Seconds, 0 or more."""
Rate = Annotated[float, RateRule()]
"""Transactions a second."""
Connections = Annotated[tuple[int, ...], ConnectionsRule()]
