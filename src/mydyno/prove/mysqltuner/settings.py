"""What MySQLTuner prints below `Recommendations`, and what its lines mean as settings.

| it prints | taken as | why |
|---|---|---|
| `NAME=V`, `NAME (=V)`, `NAME = V (...)`, `NAME should be (=V)` | V | it says so |
| `NAME (>= V)`, `NAME (~ V)`, `NAME (V)` | V | the least that it requires |
| `NAME (N) > V` | V | N is the value in force |
| `NAME (> V)` | twice V | V is the value in force; how much more is not said |
| `NAME (<= V)` | V | the most that it allows |
| `NAME (< V)` | half of V | V is the value in force |
| `NAME (start at V)` | V | it says so |
| `NAME between A and B` | A | the gentler bound |

`thread_cache_size` above max_connections is max_connections: a server caches no more threads than may
connect.

Anything else is not a setting: a sentence, a variable that the server does not have, a value that is not a
number where one is compared, `(> 0)`, of which nothing can be doubled, the value in force. Where it names a
variable twice the first line counts.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.core.errors import UsageError
from mydyno.server.variables.convert import size_text

_VERSION = re.compile(r"MySQLTuner (?:v?)(\d+(?:\.\d+)+)")
_SECTION = re.compile(r"^-{4,} Recommendations -{4,}$")
_GENERAL, _VARIABLES = "General recommendations:", "Variables to adjust:"
_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_NUMBER = r"(\d+(?:\.\d+)?)([KMGTB]?)\b"
_NAME = r"([a-z][a-z0-9_-]*)"
_SIZE_STEP = 1 << 20
"""Sizes are printed with one decimal: `1.2G` becomes whole mebibytes, rounded up."""

_COMPARED = re.compile(rf"{_NAME}\s*(?:should be\s*)?\(\s*(>=|<=|>|<|=|~|start at)\s*{_NUMBER}")
_FROM_TO = re.compile(rf"{_NAME}\s*\(\s*{_NUMBER}\s*\)\s*>\s*{_NUMBER}")
_BARE = re.compile(rf"{_NAME}\s*\(\s*{_NUMBER}\s*\)\s*$")
_BETWEEN = re.compile(rf"{_NAME} between {_NUMBER} and")
_SET = re.compile(rf"{_NAME}\s*=\s*([A-Za-z0-9_.-]+)\b")


@dataclass(frozen=True)
class Report:
    version: str | None
    general: tuple[str, ...]
    """Sentences, for people."""
    variables: tuple[str, ...]
    """As printed: `innodb_buffer_pool_size (>= 1.2G) if possible.`"""


def read_report(text: str) -> Report:
    """The advice in the program's plain output. Raises UsageError when it ended before giving any."""
    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if _SECTION.match(line)]
    if not starts:
        last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
        raise UsageError(
            f"MySQLTuner's output has no recommendations: it ended after {last!r}",
            "it was cut off, or the program failed on this server",
        )
    lines_of: dict[str, list[str]] = {_GENERAL: [], _VARIABLES: []}
    heading: str | None = None
    for line in lines[starts[-1] + 1 :]:
        if line.strip() in lines_of:
            heading = line.strip()
        elif heading is not None and line.startswith("    ") and line.strip():
            lines_of[heading].append(line.strip())
        elif heading is not None and not line.startswith("  "):
            heading = None
    version = _VERSION.search(text)
    return Report(version[1] if version else None, tuple(lines_of[_GENERAL]), tuple(lines_of[_VARIABLES]))


@dataclass(frozen=True)
class Settings:
    values: Mapping[str, str]
    """By plain names, as an option file takes them."""
    left_out: tuple[tuple[str, str], ...]
    """Lines that are not settings, and why."""


def settings_of(report: Report, variables: Mapping[str, str]) -> Settings:
    """The settings that the report asks for. `variables`: those of the server, by name."""
    values: dict[str, str] = {}
    left_out: list[tuple[str, str]] = []
    for line in report.variables:
        match = _setting(line)
        if isinstance(match, str):
            left_out.append((line, match))
            continue
        name, value = match
        value = _bounded(name, value, variables)
        if name not in variables:
            left_out.append((line, "this server has no such variable"))
        elif value == variables[name]:
            left_out.append((line, f"{name} is {value} already"))
        elif name in values:
            left_out.append((line, f"an earlier line says {name} = {values[name]}"))
        else:
            values[name] = value
    return Settings(values, tuple(left_out))


def _bounded(name: str, value: str, variables: Mapping[str, str]) -> str:
    most = variables.get("max_connections", "")
    if name == "thread_cache_size" and most.isdigit() and value.isdigit():
        return str(min(int(value), int(most)))
    return value


def _setting(line: str) -> tuple[str, str] | str:
    """Name and value, or why there is none."""
    if match := _FROM_TO.match(line):
        return _plain(match[1]), _written(_number(match[4], match[5]), match[5])
    if match := _COMPARED.match(line):
        name, sign, number, unit = match.groups()
        value = _number(number, unit)
        if sign == ">":
            value *= 2
        elif sign == "<":
            value //= 2
        if value == 0 and sign in "<>":
            return "the present value is unknown or 0"
        return _plain(name), _written(value, unit)
    if match := _BETWEEN.match(line):
        return _plain(match[1]), _written(_number(match[2], match[3]), match[3])
    if match := _BARE.match(line):
        return _plain(match[1]), _written(_number(match[2], match[3]), match[3])
    if match := _SET.match(line):
        return _plain(match[1]), match[2]
    return "it is a sentence, not a setting"


def _plain(name: str) -> str:
    return name.replace("-", "_")


def _number(digits: str, unit: str) -> int:
    exact = float(digits) * _UNITS[unit]
    if unit in ("M", "G", "T"):
        return -int(-exact // _SIZE_STEP) * _SIZE_STEP
    return round(exact)


def _written(value: int, unit: str) -> str:
    return str(size_text(value)) if unit else str(value)
