"""One server variable's value, as a DBA writes it in my.cnf, with what it means in numbers."""

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from mydyno.core.document.base import Fault, refuse
from mydyno.core.units import parse_bytes

_MEBIBYTE = 1024 * 1024
_SIZE = re.compile(r"-?\d+[KMGTPE]?", re.IGNORECASE)
LEAST_OF_DATA = 6 * _MEBIBYTE
"""The smallest share of data: no server takes a buffer pool below 5M, and it counts in whole pages."""
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%\s+of\s+(memory|data)")
_MOST_PERCENT = {"memory": 100, "data": 1000}
_ALLOWED = "a number, ON or OFF, a size as 256M, a share as 25% of memory or 80% of data, or a text"


@dataclass(frozen=True)
class Share:
    """A size as a part of something that is known when the plan is made."""

    part: float
    """0.25 for 25%."""
    of: Literal["memory", "data"]
    """The memory of the host that the server is on, or the tables of the workload as they are loaded."""

    def size(self, whole_bytes: int) -> int:
        """Bytes, rounded down to whole mebibytes; of data never below LEAST_OF_DATA."""
        size = int(self.part * whole_bytes) // _MEBIBYTE * _MEBIBYTE
        return max(size, LEAST_OF_DATA) if self.of == "data" else size


@dataclass(frozen=True)
class ConfigValue:
    """A value of `server.config`. `written` is the scalar as it is in the file."""

    written: int | float | bool | str

    @property
    def text(self) -> str:
        """The value as a server's option file takes it. A share must be resolved first."""
        assert self.share is None, "a share has no text before it is known of how much"
        if isinstance(self.written, bool):
            return "ON" if self.written else "OFF"
        return str(self.written)

    @property
    def number(self) -> int | float | None:
        """The value as a number, sizes in bytes; None for a switch, a text and an unresolved share."""
        if isinstance(self.written, bool):
            return None
        if isinstance(self.written, int | float):
            return self.written
        if not _SIZE.fullmatch(self.written):
            return None
        sign = -1 if self.written.startswith("-") else 1
        digits, suffix = self.written.lstrip("-"), 1
        if digits[-1] in "eE":
            digits, suffix = digits[:-1], 1024**6
        return sign * suffix * parse_bytes(digits)

    @property
    def share(self) -> Share | None:
        """What `25% of memory` means; None for everything else."""
        match = _SHARE.fullmatch(self.written) if isinstance(self.written, str) else None
        if match is None:
            return None
        return Share(float(match[1]) / 100, "memory" if match[2] == "memory" else "data")

    @property
    def meaning(self) -> str | int | float:
        """The same for values that the server takes as the same: 256M and 268435456, true and ON."""
        number = self.number
        if number is not None:
            return number
        return str(self.text if self.share is None else self.written).upper()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        writer = core_schema.plain_serializer_function_ser_schema(
            lambda value: value.written, when_used="always"
        )
        return core_schema.no_info_plain_validator_function(_read, serialization=writer)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": ["string", "number", "boolean"]}


def _read(raw: Any) -> ConfigValue:
    if isinstance(raw, ConfigValue):
        return raw
    if not isinstance(raw, int | float | str):
        raise refuse(Fault("is not a value of a server variable", allowed=_ALLOWED))
    if isinstance(raw, float) and not math.isfinite(raw):
        raise refuse(Fault("is not a finite number", allowed=_ALLOWED))
    if isinstance(raw, str):
        fault = _control_fault(raw) or _share_fault(raw) or _size_fault(raw)
        if fault:
            raise refuse(fault)
        raw = raw.strip()
    return ConfigValue(raw)


def _control_fault(text: str) -> Fault | None:
    """A line break would let one value write further lines into my.cnf."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        return Fault("has a line break or control character in it", allowed="one line of text")
    if len(text) > 2_000:
        return Fault("is too long for my.cnf", allowed="at most 2,000 characters")
    return None


def _share_fault(text: str) -> Fault | None:
    match = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*(%|percent)\s*(.*?)\s*", text)
    if match is None:
        return None
    number, _, rest = match.groups()
    allowed = "more than 0% and at most 100% of memory, or 1000% of data"
    if not rest:
        return Fault("is a percentage without a base", allowed=allowed, nearest=f"{number}% of memory")
    share = _SHARE.fullmatch(text.strip())
    if share is None:
        whole = "data" if "data" in rest.lower() else "memory"
        return Fault("is not a known share", allowed=allowed, nearest=f"{number.lstrip('-')}% of {whole}")
    if not 0 < float(number) <= _MOST_PERCENT[share[2]]:
        return Fault("is out of bounds", allowed=allowed)
    return None


def _size_fault(text: str) -> Fault | None:
    match = re.fullmatch(r"\s*(-?)(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", text)
    if match is None:
        return None
    sign, number, unit = match.groups()
    letter = unit[0].upper()
    if unit.upper() not in {"KB", "MB", "GB", "TB", "KIB", "MIB", "GIB", "TIB", "B", "BYTES", *"KMGTPE"}:
        return None
    allowed = "a whole number with K, M, G or T, as the server reads it"
    if letter == "B":
        return Fault("has a unit that the server does not read", allowed=allowed, nearest=f"{sign}{number}")
    if "." in number:
        smaller = {"K": "", "M": "K", "G": "M", "T": "G", "P": "T", "E": "P"}[letter]
        whole = float(number) * 1024
        nearest = f"{sign}{whole:.0f}{smaller}" if whole == int(whole) else None
        return Fault("is not a whole number of units", allowed=allowed, nearest=nearest)
    if len(unit) > 1 or " " in text.strip():
        return Fault(
            "has a unit that the server does not read", allowed=allowed, nearest=f"{sign}{number}{letter}"
        )
    return None
