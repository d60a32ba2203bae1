"""The real mysqlslap, of MySQL or (as mariadb-slap) of MariaDB. A phase is one run of it.

It makes its own schema, drops it before and after, and reports only the seconds that all clients
needed. Its report also counts the statements of clients that failed, and its exit code may be 0 then: so
whatever it writes to its standard error makes the phase an aborted one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from mydyno.core.errors import UsageError
from mydyno.lab.load import messages
from mydyno.lab.load.external.admin import Admin
from mydyno.lab.load.external.foreign import Cut, ForeignProgram, Start
from mydyno.lab.load.external.program import Ended, Line, PrivateFolder, find, refuse_in_file
from mydyno.lab.load.external.slap_report import Block, Failure, read_report
from mydyno.lab.load.job import Job, Phase, Target
from mydyno.lab.workload.external_program import ExternalSlap

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
