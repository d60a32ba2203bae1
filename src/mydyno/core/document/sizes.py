"""Sizes and bandwidths of disks and memory, in powers of 1024 as mdadm, mkfs and a DBA count them."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from pydantic.json_schema import JsonSchemaValue

from mydyno.core.document.base import Fault, refuse
from mydyno.core.document.quantities import Rule
from mydyno.core.units import format_bytes

KIBIBYTE, MEBIBYTE, GIBIBYTE, TEBIBYTE = 1024, 1024**2, 1024**3, 1024**4
_UNITS = {"K": KIBIBYTE, "M": MEBIBYTE, "G": GIBIBYTE, "T": TEBIBYTE}
_SIZE = re.compile(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT])\s*")
_NEAR_SIZE = re.compile(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT])(?:i?B)?\s*", re.IGNORECASE)
_BANDWIDTH = re.compile(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT])\s*(?:/\s*s)?\s*")
_NEAR_BANDWIDTH = re.compile(
    r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT])(?:i?B)?\s*(?:/\s*s(?:ec)?|ps)?\s*", re.IGNORECASE
)
_BANDWIDTH_ALLOWED = "bytes a second, as 500K, 50M or 1G (or 50M/s)"


@dataclass(frozen=True)
class SizeRule(Rule):
    """Bytes, from `512K`, `1.5G`. A bare number is refused: its unit is unknown."""

    at_least: int = KIBIBYTE
    at_most: int = 1024 * TEBIBYTE
    example: str = "2G"
    """A value as the messages show it; its unit is the likely one of a bare number."""
    schema: ClassVar[JsonSchemaValue] = {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*[KMGT]\s*$"}

    @property
    def bounds(self) -> str:
        return f"from {format_bytes(self.at_least)} to {format_bytes(self.at_most)}, as {self.example}"

    def read(self, raw: Any) -> int:
        match = _SIZE.fullmatch(raw) if isinstance(raw, str) else None
        if match is None:
            raise refuse(self._fault(raw))
        count = _whole(match, "is not a whole number of kilobytes", self.bounds)
        if not self.at_least <= count <= self.at_most:
            raise refuse(Fault("is out of bounds", allowed=self.bounds))
        return count

    def _fault(self, raw: Any) -> Fault:
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            nearest = self._with_unit(raw) if raw > 0 else None
            return Fault("has no unit", allowed=self.bounds, nearest=nearest)
        text = raw if isinstance(raw, str) else ""
        if near := _NEAR_SIZE.fullmatch(text):
            nearest = f"{near[1]}{near[2].upper()}"
            return Fault("has a unit in another notation", allowed=self.bounds, nearest=nearest)
        return Fault("is not a size", allowed=self.bounds)

    def _with_unit(self, number: int | float) -> str | None:
        """What a bare number most likely means: bytes when it is a size in bytes, else the example's unit, or
        the one below it for 1000 and more, which is not written in the larger one."""
        if number == int(number) and number % KIBIBYTE == 0 and self._allows(int(number)):
            return written_size(int(number))
        unit = self.example.strip()[-1]
        smaller = {"T": "G", "G": "M", "M": "K"}.get(unit)
        units = (smaller, unit) if smaller and number >= 1000 else (unit,)
        return next((f"{number:g}{each}" for each in units if self._allows(int(number * _UNITS[each]))), None)

    def _allows(self, count: int) -> bool:
        return self.at_least <= count <= self.at_most

    def write(self, value: int) -> str:
        return written_size(value)


@dataclass(frozen=True)
class BandwidthRule(Rule):
    """Bytes a second, from `50M` or `50M/s`."""

    at_least: int = 16 * KIBIBYTE
    at_most: int = TEBIBYTE
    schema: ClassVar[JsonSchemaValue] = {
        "type": "string",
        "pattern": r"^\s*\d+(\.\d+)?\s*[KMGT]\s*(/\s*s)?\s*$",
    }

    def read(self, raw: Any) -> int:
        match = _BANDWIDTH.fullmatch(raw) if isinstance(raw, str) else None
        if match is None:
            raise refuse(_bandwidth_fault(raw))
        rate = _whole(match, "is not a whole number of kilobytes a second", _BANDWIDTH_ALLOWED)
        if not self.at_least <= rate <= self.at_most:
            allowed = f"from {format_bytes(self.at_least)}/s to {format_bytes(self.at_most)}/s"
            raise refuse(Fault("is out of bounds", allowed=allowed))
        return rate

    def write(self, value: int) -> str:
        return f"{written_size(value)}/s"


def _bandwidth_fault(raw: Any) -> Fault:
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return Fault("has no unit", _BANDWIDTH_ALLOWED, f"{raw:g}M" if raw > 0 else None)
    near = _NEAR_BANDWIDTH.fullmatch(raw) if isinstance(raw, str) else None
    return Fault("is not a bandwidth", _BANDWIDTH_ALLOWED, f"{near[1]}{near[2].upper()}" if near else None)


def _whole(match: re.Match[str], message: str, allowed: str) -> int:
    exact = Decimal(match[1]) * _UNITS[match[2]]
    if exact % KIBIBYTE:
        raise refuse(Fault(message, allowed=allowed))
    return int(exact)


def written_size(count: int) -> str:
    """`count` bytes (whole kibibytes) exactly, with the largest unit that leaves a whole number."""
    unit = next(unit for unit in ("T", "G", "M", "K") if count % _UNITS[unit] == 0)
    return f"{count // _UNITS[unit]}{unit}"
