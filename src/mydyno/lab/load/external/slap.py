"""The real mysqlslap, of MySQL or (as mariadb-slap) of MariaDB. A phase is one run of it.

It makes its own schema, drops it before and after, and reports only the seconds that all clients
needed. Its report also counts the statements of clients that failed, and its exit code may be 0 then: so
whatever it writes to its standard error makes the phase an aborted one.

What it prints has a block for each engine and concurrency. Seconds have three decimals, so a short run shows
0.000.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mydyno.core.errors import EngineError, UsageError
from mydyno.lab.load import messages
from mydyno.lab.load.external.foreign import Admin, Cut, ForeignProgram, Start
from mydyno.lab.load.external.program import Ended, Line, PrivateFolder, find, refuse_in_file
from mydyno.lab.load.job import Job, Phase, Target
from mydyno.lab.workload.external_program import ExternalSlap

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


_VERSION = re.compile(r"(?:Ver (?:[\d.]+ Distrib )?|from )([\d.]+(?:-MariaDB)?)")
_NS = 1_000_000_000
_MOST_PASSWORD_BYTES = 1_000
_UNKNOWN_ERROR = 1105
"""ER_UNKNOWN_ERROR: mysqlslap prints the text of a failed statement without its code."""


class Slap(ForeignProgram):
    """mysqlslap with its options on one server. It makes its tables itself."""

    def __init__(self, options: ExternalSlap, job: Job, folder: PrivateFolder) -> None:
        self.program = find(["mariadb-slap", "mysqlslap"], "mariadb-client", _VERSION)
        self._options = options
        self._drop_existing = job.drop_existing
        # The only option file that it reads, so that those of the machine change nothing.
        self._file = folder.hold(_option_file(job.target))

    def check(self, phase: Phase) -> None:
        if phase.arrival["kind"] != "closed":
            raise UsageError("mysqlslap only supports closed loops", "remove the arrival")
        work = phase.work
        if work["kind"] == "timed":
            raise UsageError(
                "mysqlslap has no time limit: it runs a number of statements",
                "use rounds for each connection",
            )
        if work["kind"] == "events" and work["events"] % phase.connections:
            raise UsageError(
                f"mysqlslap gives each client the same share, and {phase.connections} clients cannot share"
                f" {work['events']:,} statements",
                "use a multiple, or rounds for each connection",
            )

    def before(self, admin: Admin) -> None:
        schema = self._options.database
        if not self._drop_existing:
            admin.refuse_foreign(
                schema, list(admin.tables(schema)), f"{self.program.name} would drop {schema}"
            )

    def argv(self, phase: Phase) -> Sequence[str]:
        options = self._options
        made_up = ["--auto-generate-sql", f"--auto-generate-sql-load-type={options.load_type or 'mixed'}"]
        return [
            str(self.program.path),
            f"--defaults-file={self._file}",
            f"--create-schema={options.database}",
            f"--concurrency={phase.connections}",
            f"--number-of-queries={_queries(phase)}",
            f"--iterations={options.iterations}",
            *([f"--engine={options.storage_engine}"] if options.storage_engine else []),
            *([] if options.own_query else made_up),
            *(_written(name.replace("_", "-"), value) for name, value in options.options.items()),
        ]

    def listener(self, start: Start) -> SlapPhase:
        return SlapPhase(start, self.program.name, self._options.iterations)

    def tidy(self, admin: Admin) -> None:
        admin.drop_schema(self._options.database)


class SlapPhase:
    """Hears one run of mysqlslap, which says everything at its end."""

    latest_end_ns = None

    def __init__(self, start: Start, program: str, iterations: int) -> None:
        self._start = start
        self._program = program
        self._iterations = iterations
        self._started_ns = start.clock.now()
        self._lines: list[str] = []

    def hear(self, line: Line) -> Iterator[messages.Message]:
        self._lines.append(line.text)
        return iter(())

    def end(self, ended: Ended, cut: Cut) -> Iterator[messages.Message]:
        now, index = self._start.clock.now(), self._start.index
        items = [] if cut.interrupted else read_report(self._lines, self._program)
        block = next((item for item in items if isinstance(item, Block)), None)
        failures = [item for item in items if isinstance(item, Failure)]
        timed, window_ns = messages.Timed(count=0, latency=messages.NOT_TIMED), None
        if block:
            queries = block.clients * block.queries_per_client * self._iterations
            timed = messages.Timed(count=queries, latency=messages.NOT_TIMED)
            window_ns = round(block.avg_s * self._iterations * _NS)
            yield messages.Connected(phase=index, reached=block.clients, failed=0, errors={}, t_ns=now)
            yield messages.Measuring(phase=index, t_ns=now)
            # The whole phase as one: there is nothing in between.
            yield messages.foreign_interval(
                phase=index,
                from_ns=now - max(window_ns, 1),
                to_ns=now,
                queries=queries,
                transactions=queries,
                connections=block.clients,
                t_ns=now,
            )
        errors = Counter(str(failure.code or _UNKNOWN_ERROR) for failure in failures)
        examples = {str(failure.code or _UNKNOWN_ERROR): failure.text for failure in reversed(failures)}
        yield messages.foreign_end(
            phase=index,
            connections_asked=self._start.phase.connections,
            connections_reached=block.clients if block else 0,
            started_ns=self._started_ns,
            measured_from_ns=None if window_ns is None else now - window_ns,
            measured_to_ns=None if window_ns is None else now,
            ended_ns=now,
            interrupted=cut.interrupted,
            aborted=None if cut.interrupted else self._why_aborted(ended, cut, block, failures),
            latency_kind="service",
            queries=timed,
            statements={},
            transactions=timed,
            errors=dict(errors),
            error_examples=examples,
            client_cpu=messages.CpuSeconds(user_s=ended.user_s, system_s=ended.system_s),
            t_ns=now,
        )

    def _why_aborted(
        self, ended: Ended, cut: Cut, block: Block | None, failures: Sequence[Failure]
    ) -> str | None:
        if cut.why:
            return cut.why
        if failures:
            reported = ", and its report counts statements that were not run" if block else ""
            return f"{failures[0].text}{reported}"
        if block is None or ended.exit_code:
            return f"{self._program} ended with exit code {ended.exit_code} and no report"
        return None


def _queries(phase: Phase) -> int:
    """Statements of all clients: mysqlslap gives each the same share, rounded down."""
    if phase.work["kind"] == "rounds":
        return int(phase.work["rounds"]) * phase.connections
    return int(phase.work["events"])


def _written(name: str, value: str | int | float | bool) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--skip-{name}"
    return f"--{name}={value}"


def _option_file(target: Target) -> str:
    """Its [client] section; quotes and backslashes are escaped (MySQL manual, "Using Option Files")."""
    refuse_in_file(target.password, "", _MOST_PASSWORD_BYTES, "mysqlslap")

    def quoted(text: object) -> str:
        return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = [f"user={quoted(target.user)}", f"password={quoted(target.password.reveal())}"]
    if target.socket:
        lines += [f"socket={quoted(target.socket)}", "protocol=socket"]
    else:
        lines += [f"host={quoted(target.host)}", f"port={target.port}", "protocol=tcp"]
    return "\n".join(["[client]", *lines, ""])
