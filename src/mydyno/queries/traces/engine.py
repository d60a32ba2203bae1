"""Runs `mydyno-engine trace`, which reads and writes traces."""

import json
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from mydyno.core.errors import EngineError, UsageError
from mydyno.machine.programs import find_program
from mydyno.queries.traces.records import Summary, Trace

STANDARD_INPUT = "-"

_Kind = TypeVar("_Kind", Trace, Summary)
_OTHER_RELEASE = "mydyno and mydyno-engine come from different releases: install them together"


@dataclass(frozen=True)
class Selection:
    """Which statements of a trace are kept: all that is given must hold."""

    schemas: Sequence[str] = ()
    users: Sequence[str] = ()
    connections: Sequence[int] = ()
    """The server's numbers."""
    fingerprints: Sequence[str] = ()
    matching: str | None = None
    reads_only: bool = False
    errors_only: bool = False
    from_us: int = 0
    until_us: int | None = None

    def words(self) -> list[str]:
        several = {
            "schema": self.schemas,
            "user": self.users,
            "connection": self.connections,
            "fingerprint": self.fingerprints,
        }
        words = [f"--{name}={value}" for name, values in several.items() for value in values]
        words += [] if self.matching is None else [f"--matching={self.matching}"]
        words += ["--reads-only"] * self.reads_only + ["--errors-only"] * self.errors_only
        words += [f"--from-us={self.from_us}"]
        return words + ([] if self.until_us is None else [f"--until-us={self.until_us}"])


def capture_logs(
    files: Sequence[str],
    out: Path,
    *,
    masked: bool = False,
    stdin: int | None = None,
    stdin_name: str | None = None,
    report: Callable[[int, int], None] = lambda read_bytes, statements: None,
) -> Trace:
    """Writes a trace of logs, of which `-` is `stdin`. `report` hears the bytes read and the statements.

    `stdin_name`: what standard input is called; it is the log of a server, which may hold no statement.

    Ctrl-C ends the reading: the trace has what was read until then. Raises UsageError when nothing can be
    read, EngineError, MissingToolError.
    """
    words = ["capture", f"--out={out}", "--progress", *["--mask"] * masked]
    words += [] if stdin_name is None else [f"--stdin-name={stdin_name}", "--may-be-empty"]
    words += ["--", *files]
    with _started(words, stdin) as process:
        try:
            return _answer(process, Trace, report)
        except KeyboardInterrupt:
            process.terminate()
            return _answer(process, Trace, report)
        finally:
            process.kill()


def summary_of(trace: Path, limit: int) -> Summary:
    """With `limit` fingerprints. Raises UsageError, EngineError."""
    return _run(["show", f"--limit={limit}", "--", str(trace)], Summary)


def select_from(trace: Path, selection: Selection, out: Path) -> Trace:
    """Writes the selected part as a trace. Raises UsageError, EngineError."""
    return _run(["select", f"--out={out}", *selection.words(), "--", str(trace)], Trace)


def merge_traces(traces: Iterable[Path], out: Path, *, align_starts: bool) -> Trace:
    """Writes all as one trace. Raises UsageError, EngineError."""
    align = ["--align-starts"] if align_starts else []
    return _run(["merge", f"--out={out}", *align, "--", *map(str, traces)], Trace)


def _run(words: Sequence[str], kind: type[_Kind]) -> _Kind:
    with _started(words, None) as process:
        try:
            return _answer(process, kind, lambda read_bytes, statements: None)
        finally:
            process.kill()


def _started(words: Sequence[str], stdin: int | None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(find_program("mydyno-engine")), "trace", *words],
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches it once, by us.
    )


def _answer(process: subprocess.Popen[bytes], kind: type[_Kind], report: Callable[[int, int], None]) -> _Kind:
    assert process.stdout is not None
    assert process.stderr is not None
    for line in process.stdout:
        message: dict[str, Any] = json.loads(line)
        match message.pop("type", None):
            case "progress":
                report(message["read_bytes"], message["statements"])
            case "fatal":
                error = UsageError if message["code"] == "bad-job" else EngineError
                raise error(message["message"], message["hint"])
            case _:
                return _understood(kind, message)
    errors = process.stderr.read().decode(errors="replace").strip()
    why = f"mydyno-engine trace ended without an answer (exit code {process.wait()}): {errors[-500:]}"
    raise EngineError(why, _OTHER_RELEASE if "unrecognized subcommand" in errors else None)


def _understood(kind: type[_Kind], message: dict[str, Any]) -> _Kind:
    try:
        return kind.model_validate(message)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise EngineError(f"unexpected answer of mydyno-engine: {why}", _OTHER_RELEASE) from None
