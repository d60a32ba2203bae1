"""What mysqlslap and mariadb-slap print, as typed values. Pure: it sees lines only.

It has a block for each engine and concurrency. Seconds have three decimals, so a short run shows 0.000.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.core.errors import EngineError

_ENGINE = re.compile(r"\tRunning for engine (\S+)$")
_FIELDS = (
    *(
        (name, re.compile(rf"\t{word} number of seconds to run all queries: ([\d.]+) seconds$"))
        for name, word in (("avg_s", "Average"), ("min_s", "Minimum"), ("max_s", "Maximum"))
    ),
    ("clients", re.compile(r"\tNumber of clients running queries: (\d+)$")),
    ("queries_per_client", re.compile(r"\tAverage number of queries per client: (\d+)$")),
)
_SAID = re.compile(r"(?:\S*/)?(?:mysqlslap|mariadb-slap): (?P<text>.*)$")
_WARNING = re.compile(r"\[?Warning\b", re.IGNORECASE)
_CONNECTING = re.compile(r"Error when connecting to server: (?P<code>\d{4})\b")
_WITHIN = re.compile(r"(?P<code>\d{4}) - ")


@dataclass(frozen=True, kw_only=True)
class Block:
    """One report: seconds of the iterations, from the start of the clients to the end of the last."""

    engine: str | None
    clients: int
    queries_per_client: int
    avg_s: float
    min_s: float
    max_s: float


@dataclass(frozen=True)
class Failure:
    """Something that it wrote to its standard error; `code` where the text has one."""

    code: int | None
    text: str


def read_report(lines: Iterable[str], program: str = "mysqlslap") -> list[Block | Failure]:
    """The reports of a run and the errors between them. Raises EngineError for what cannot be read."""
    items: list[Block | Failure] = []
    found: dict[str, str] | None = None
    for number, line in enumerate(lines, start=1):
        if failure := read_failure(line):
            items.append(failure)
        elif line == "Benchmark":
            found = {}
        elif found is not None and line.startswith("\t"):
            name, value = _field(line, number, program)
            found[name] = value
            if name == _FIELDS[-1][0]:
                items.append(_block(found, line, number, program))
                found = None
        elif line.strip():
            raise _unreadable(line, number, program)
    if found is not None:
        raise _unreadable("", number, program, "the report is cut off")
    return items


def read_failure(line: str) -> Failure | None:
    """An error message; None for any other line."""
    match = _SAID.match(line)
    if match is None or _WARNING.match(match["text"]):
        return None
    text = match["text"]
    # Only connecting has a code; 2002 of the client library may hold that of the server.
    code = _CONNECTING.match(text)
    if code is not None:
        code = _WITHIN.search(text) or code
    return Failure(int(code["code"]) if code else None, text)


def _field(line: str, number: int, program: str) -> tuple[str, str]:
    if match := _ENGINE.fullmatch(line):
        return "engine", match[1]
    for name, pattern in _FIELDS:
        if match := pattern.fullmatch(line):
            return name, match[1]
    raise _unreadable(line, number, program)


def _block(found: dict[str, str], line: str, number: int, program: str) -> Block:
    missing = [name for name, _ in _FIELDS if name not in found]
    if missing:
        raise _unreadable(line, number, program, f"the report ends without {missing[0]}")
    return Block(
        engine=found.get("engine"),
        clients=int(found["clients"]),
        queries_per_client=int(found["queries_per_client"]),
        avg_s=float(found["avg_s"]),
        min_s=float(found["min_s"]),
        max_s=float(found["max_s"]),
    )


def _unreadable(line: str, number: int, program: str, why: str = "the line is not known") -> EngineError:
    return EngineError(f"the output of {program} cannot be read: line {number} {line[:200]!r}: {why}")
