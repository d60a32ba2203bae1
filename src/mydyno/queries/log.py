"""Runs the engine over slow logs and takes its digest (docs/reference/digest-format.md)."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, TypeVar

from pydantic import ValidationError

from mydyno.core.errors import EngineError, UsageError
from mydyno.machine.programs import find_program
from mydyno.queries.grouping import Grouping
from mydyno.queries.records import FORMAT, Digest, Group

STANDARD_INPUT = "-"

_Kind = TypeVar("_Kind", Digest, Group)
_OTHER_RELEASE = "mydyno and mydyno-engine come from different releases: install them together"


@dataclass(frozen=True)
class Progress:
    """How far reading has come."""

    read_bytes: int
    """Of the files as they lie there: of compressed ones these are compressed bytes."""
    of_bytes: int | None
    """None where one of them is a pipe."""
    entries: int


@dataclass(frozen=True)
class OpenDigest:
    """A digest of which not all groups have been read yet."""

    digest: Digest
    """With its first groups."""
    more: Iterator[Group]
    """Those behind them, each read when it is wanted."""


def read_logs(files: Sequence[str], *, stdin: int | IO[bytes] | None = None, **options: Any) -> Digest:
    """The digest of `files` with all groups; options and errors are those of `open_logs`."""
    with open_logs(files, stdin=stdin, **options) as opened:
        return opened.digest


@contextmanager
def open_logs(
    files: Sequence[str],
    *,
    since_us: int | None = None,
    until_us: int | None = None,
    filters: Sequence[str] = (),
    grouping: Grouping | None = None,
    limit: int | None = None,
    threads: int | None = None,
    stdin: int | IO[bytes] | None = None,
    out_log: IO[bytes] | None = None,
    report: Callable[[Progress], None] | None = None,
    ahead: int | None = None,
) -> Iterator[OpenDigest]:
    """What ran according to `files`, of which `-` is standard input, or `stdin` when that is given.

    Entries are those from `since_us` on and before `until_us` (microseconds since 1970, UTC) for which all
    `filters` hold; `limit` groups are reported, all when it is None; the first `ahead` of them are read at
    once. `out_log` gets these entries as a slow log. `report` is called with the progress several times a
    second. Ctrl-C ends the reading: the digest of what was read comes back, with the problem `interrupted`;
    a second Ctrl-C raises KeyboardInterrupt. What cannot be read is a problem in the digest.

    Raises UsageError for a filter that cannot be understood, EngineError, MissingToolError.
    """
    if STANDARD_INPUT in files and stdin is None and sys.stdin is not None and sys.stdin.isatty():
        why = "`-` reads standard input, which is a terminal"
        raise UsageError(why, "zcat slow.log.gz | mydyno digest -")
    log_fd = None if out_log is None else out_log.fileno()
    options = {
        "--since-us": since_us,
        "--until-us": until_us,
        "--limit": limit,
        "--threads": threads,
        "--out-log-fd": log_fd,
    }
    command = _command(files, options, filters, grouping, progress=report is not None)
    if STANDARD_INPUT not in files:
        stdin = subprocess.DEVNULL
    # In a separate session Ctrl-C does not reach it twice, by the terminal and by us.
    with subprocess.Popen(
        command,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=() if log_fd is None else (log_fd,),
    ) as process:
        try:
            yield _interruptible(process, report, ahead)
        finally:
            process.kill()


def _command(
    files: Sequence[str],
    options: Mapping[str, int | None],
    filters: Sequence[str],
    grouping: Grouping | None,
    progress: bool,
) -> list[str]:
    return [
        str(find_program("mydyno-engine")),
        "digest",
        *(f"{name}={value}" for name, value in options.items() if value is not None),
        *(f"--filter={text}" for text in filters),
        *([f"--group-by={grouping.by}"] if grouping else []),
        *(["--merge-tables"] if grouping and grouping.merge_tables else []),
        *(["--progress"] if progress else []),
        "--",
        *files,
    ]


def _interruptible(
    process: subprocess.Popen[bytes], report: Callable[[Progress], None] | None, ahead: int | None
) -> OpenDigest:
    try:
        return _read_head(process, report, ahead)
    except KeyboardInterrupt:
        process.terminate()
        # After its last message nothing more comes, and what was read in between is lost.
        with suppress(EngineError):
            return _read_head(process, None, ahead)
        raise


def _read_head(
    process: subprocess.Popen[bytes], report: Callable[[Progress], None] | None, ahead: int | None
) -> OpenDigest:
    """Reads the engine's messages up to its digest and the first of its groups."""
    assert process.stdout is not None
    for line in process.stdout:
        message = _parse(line)
        match message.pop("type", None):
            case "progress":
                if report:
                    report(Progress(**message))
            case "digest":
                groups = message.pop("groups", None)
                digest = _digest({**message, "groups": []})
                if not isinstance(groups, int):
                    raise EngineError("mydyno-engine did not report the number of groups", _OTHER_RELEASE)
                more = _groups(process, groups)
                first = tuple(islice(more, ahead))
                return OpenDigest(digest.model_copy(update={"groups": first}), more)
            case "fatal":
                kind = UsageError if message["code"] == "bad-job" else EngineError
                raise kind(message["message"], message["hint"])
    raise _ended_early(process, "without a digest")


def _groups(process: subprocess.Popen[bytes], number: int) -> Iterator[Group]:
    assert process.stdout is not None
    for _ in range(number):
        message = _parse(process.stdout.readline() or b"null")
        if message.pop("type", None) != "group":
            raise _ended_early(process, "before its last group")
        yield _understood(Group, message)


def _ended_early(process: subprocess.Popen[bytes], how: str) -> EngineError:
    assert process.stderr is not None
    errors = process.stderr.read().decode(errors="replace").strip()
    end = f": {errors[-500:]}" if errors else ""
    return EngineError(
        f"mydyno-engine digest ended {how} (exit code {process.wait()}){end}",
        _OTHER_RELEASE if "unrecognized subcommand" in errors or "unexpected argument" in errors else None,
    )


def _parse(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise EngineError(f"unexpected output of mydyno-engine: {line[:200]!r}")
    return message


def _digest(message: dict[str, Any]) -> Digest:
    if message.get("format") != FORMAT:
        why = f"mydyno-engine writes digests of format {message.get('format')}, this mydyno reads {FORMAT}"
        raise EngineError(why, _OTHER_RELEASE)
    return _understood(Digest, message)


def _understood(kind: type[_Kind], message: dict[str, Any]) -> _Kind:
    try:
        return kind.model_validate(message)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise EngineError(f"unexpected digest of mydyno-engine: {why}", _OTHER_RELEASE) from None
