"""How a value is brought over to the variable that does the same in another release."""

import math
import re
from collections.abc import Mapping

from mydyno.core.server_variables import OFF_WORDS, ON_WORDS, Setting
from mydyno.core.units import parse_bytes
from mydyno.server.variables.row import Becomes, same_value

_DAY = 86400
_SIZE = re.compile(r"\d+[KMGTP]?", re.IGNORECASE)
_SUFFIXES = ("P", "T", "G", "M", "K")


class ConversionError(ValueError):
    """The value has no counterpart; the message says why."""


def whole_number(value: Setting) -> int:
    """The number that a size or count means: `512M` is 536870912. Raises ConversionError."""
    if isinstance(value, bool):
        raise ConversionError("a switch is not a number")
    if isinstance(value, int | float):
        if not math.isfinite(value) or value != int(value):
            raise ConversionError(f"{value:g} is not a whole number")
        return int(value)
    if not _SIZE.fullmatch(value.strip()):
        raise ConversionError(f"{value} is not a number")
    return parse_bytes(value)


def size_text(number: int) -> Setting:
    """A size as my.cnf has it: 1073741824 is `1G`; what is not a multiple of 1024 stays a number."""
    for power, suffix in zip(range(5, 0, -1), _SUFFIXES, strict=True):
        if number and number % 1024**power == 0:
            return f"{number // 1024**power}{suffix}"
    return number


def text_of(value: Setting) -> str:
    """A value as people read it in a sentence."""
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    return f"{value:g}" if isinstance(value, float) else str(value)


def convert(becomes: Becomes, value: Setting, factor: int | None) -> dict[str, Setting]:
    """The settings that `value` is there; `factor` is what `by` asks for, None without one.

    Raises ConversionError.
    """
    match becomes.how:
        case "same":
            return {becomes.name: value}
        case "inverted":
            return {becomes.name: not _switch(value)}
        case "times" | "divided":
            return {becomes.name: _scaled(becomes, value, factor)}
        case "words":
            return {becomes.name: _word(becomes.words, value)}
        case "switch and file":
            return _switch_and_file(becomes, value)
        case _:
            return {becomes.name: _time(becomes.how, value)}


def _scaled(becomes: Becomes, value: Setting, factor: int | None) -> Setting:
    by = becomes.by_default if factor is None else factor
    number = whole_number(value)
    if by is None or by <= 0:
        return size_text(number)
    return size_text(number * by if becomes.how == "times" else number // by)


def _time(how: str, value: Setting) -> Setting:
    if how == "seconds to milliseconds":
        seconds = float(value) if isinstance(value, str) and "." in value else value
        if isinstance(seconds, float):
            return math.ceil(seconds * 1000)
        return whole_number(seconds) * 1000
    number = whole_number(value)
    if how == "days to seconds":
        return number * _DAY
    if how == "milliseconds to seconds":
        return number / 1000
    if number % _DAY:
        raise ConversionError(f"{number} seconds are not a whole number of days")
    return number // _DAY


def _word(words: Mapping[str, str], value: Setting) -> Setting:
    for written, there in words.items():
        if same_value(value, written):
            return there
    raise ConversionError(f"{text_of(value)} has no counterpart, only {', '.join(words)}")


def _switch(value: Setting) -> bool:
    word = str(value).strip().lower()
    if word not in ON_WORDS | OFF_WORDS:
        raise ConversionError(f"{text_of(value)} is neither ON nor OFF")
    return word in ON_WORDS


def _switch_and_file(becomes: Becomes, value: Setting) -> dict[str, Setting]:
    """What was a switch and a file name in one: `log_slow_queries = slow.log`."""
    assert becomes.file is not None, "checked when the table is read"
    if str(value).strip().lower() in ON_WORDS | OFF_WORDS:
        return {becomes.name: _switch(value)}
    return {becomes.name: True, becomes.file: value}
