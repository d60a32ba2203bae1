"""Slow logs, digested by the engine: started, listened to, its digest taken (docs/digest-format.md)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from pydantic import ValidationError

from mydyno.core.errors import EngineError, UsageError
from mydyno.digest.records import FORMAT, Digest
from mydyno.host.programs import find_program

STANDARD_INPUT = "-"

_OTHER_RELEASE = "mydyno and mydyno-engine come from different releases: install them together"


@dataclass(frozen=True)
class Progress:
    """How far reading has come."""

    read_bytes: int
    """Of the files as they lie there: of compressed ones these are compressed bytes."""
    of_bytes: int | None
    """None where one of them is a pipe."""
    entries: int


def read_logs(
    files: Sequence[str],
    *,
    since_us: int | None = None,
    until_us: int | None = None,
    filters: Sequence[str] = (),
    limit: int | None = None,
    threads: int | None = None,
    stdin: int | IO[bytes] | None = None,
    tell: Callable[[Progress], None] | None = None,
) -> Digest:
    """What ran according to `files`, of which `-` is standard input, or `stdin` when that is given.

    Entries are those from `since_us` on and before `until_us` (microseconds since 1970, UTC) for which all
    `filters` hold; `limit` groups are told, all when it is None. `tell` hears several times a second how far
    reading has come. Ctrl-C ends the reading: the digest of what was read comes back, with the problem
    `interrupted`; a second Ctrl-C raises KeyboardInterrupt. What cannot be read is a problem in the digest.

    Raises UsageError for a filter that cannot be understood, EngineError, MissingToolError.
    """
    if STANDARD_INPUT in files and stdin is None and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError(
            "`-` reads standard input, which is a terminal", "zcat slow.log.gz | mydyno digest -"
        )
    options = {"--since-us": since_us, "--until-us": until_us, "--limit": limit, "--threads": threads}
    command = [
        str(find_program("mydyno-engine")),
        "digest",
        *(f"{name}={value}" for name, value in options.items() if value is not None),
        *(f"--filter={text}" for text in filters),
        *(["--progress"] if tell else []),
        "--",
        *files,
    ]
    if STANDARD_INPUT not in files:
        stdin = subprocess.DEVNULL
    # In a session of its own Ctrl-C does not reach it twice, by the terminal and by us.
    with subprocess.Popen(
        command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            return _hear(process, tell)
        except KeyboardInterrupt:
            process.terminate()
            # Had it said its last already, then what was lost in between is lost.
            with suppress(EngineError):
                return _hear(process, None)
            raise
        finally:
            process.kill()


def _hear(process: subprocess.Popen[bytes], tell: Callable[[Progress], None] | None) -> Digest:
    """Listens to the engine up to its digest."""
    assert process.stdout is not None
    assert process.stderr is not None
    for line in process.stdout:
        message = _parse(line)
        match message.pop("type", None):
            case "progress":
                if tell:
                    tell(Progress(**message))
            case "digest":
                return _digest(message)
            case "fatal":
                kind = UsageError if message["code"] == "bad-job" else EngineError
                raise kind(message["message"], message["hint"])
    said = process.stderr.read().decode(errors="replace").strip()
    raise EngineError(
        f"mydyno-engine digest ended without a digest (exit code {process.wait()}){': ' if said else ''}"
        f"{said[-500:]}",
        _OTHER_RELEASE if "unrecognized subcommand" in said else None,
    )


def _parse(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise EngineError(f"mydyno-engine said what this mydyno does not understand: {line[:200]!r}")
    return message


def _digest(message: dict[str, Any]) -> Digest:
    if message.get("format") != FORMAT:
        raise EngineError(
            f"mydyno-engine writes digests of format {message.get('format')}, this mydyno reads {FORMAT}",
            _OTHER_RELEASE,
        )
    try:
        return Digest.model_validate(message)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise EngineError(
            f"mydyno-engine's digest is not one that this mydyno understands: {where}: {first['msg']}",
            _OTHER_RELEASE,
        ) from None
