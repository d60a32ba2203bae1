"""One client type of a `.smack` script at work: what each of its lines in `main` does.

The original has a process for each client type and one more for each connection. Here a client type is a
thread, and its connections live in an engine process for as long as a barrel is unloaded.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from mydyno.core.beneath import write_below
from mydyno.core.document.problems import Position, Problem, SpecErrors
from mydyno.core.errors import UsageError
from mydyno.lab.load import job as jobs
from mydyno.lab.load import sessions
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.failures import added
from mydyno.lab.load.messages import Hello, PhaseEnd
from mydyno.lab.load.smack import data
from mydyno.lab.load.smack import report as reports
from mydyno.lab.load.smack.report import ClientReport, evaluate
from mydyno.lab.load.smack.settings import Emit, Settings, target_of
from mydyno.lab.workload.smack import program
from mydyno.lab.workload.smack.barrel import Draw, expand
from mydyno.lab.workload.smack.dictionary import Dictionary
from mydyno.lab.workload.smack.grammar import Assignment, Call, Expression, Script, Section
from mydyno.lab.workload.statement_trust import reaches, reaching_statements, refuse_reaching
from mydyno.machine.local import LocalHost
from mydyno.server.access import dbapi

_MOST_CONNECTIONS = 100_000


@dataclass(frozen=True)
class World:
    """What all client types of a run share; it is never changed."""

    script: Script
    arguments: tuple[str, ...]
    dictionaries: Mapping[str, Dictionary]
    settings: Settings
    emit: Emit


class ClientType:
    """Runs the lines of one client, from its init() on, with separate variables."""

    def __init__(self, world: World, client: Section, lane: program.Lane, variables: dict[str, str]) -> None:
        self._world = world
        self._client = client
        self._lane = lane
        self._variables = variables
        self._target = target_of(client, world.settings.overrides)
        self._rounds = 1
        self._threads = 1
        self._ends: list[PhaseEnd] = []
        self._slept_s = 0.0
        self._drawn = 0
        self._waiting: list[str] = []
        self._session: dbapi.Connection[dbapi.Cursor] | None = None
        self._engine: Engine | None = None
        self._stopped = False
        self.reports: list[ClientReport] = []
        self.errors: dict[str, int] = {}
        self.error_examples: dict[str, str] = {}
        self.server_version: str | None = None

    def run(self, lines: list[Call | Assignment]) -> None:
        """Raises MydynoError where the script cannot go on; failed statements are counted instead."""
        try:
            for number, line in enumerate(lines):
                if self._stopped:
                    break
                if isinstance(line, Assignment):
                    self._variables[line.name] = self._value(line.value)
                else:
                    self._call(line, lines[number + 1 :])
            if self._stopped and self._ends:
                self._report()
            for end in self._ends:
                self._count(end.errors, end.error_examples)
        finally:
            self._close()

    def stop(self) -> None:
        """Ask for an early end: what was measured so far is still reported."""
        self._stopped = True
        if self._engine:
            self._engine.request_stop()

    def _call(self, line: Call, later: list[Call | Assignment]) -> None:
        arguments = [self._value(argument) for argument in line.arguments]
        match line.method:
            case "set_num_rounds":
                self._rounds = self._whole(line, arguments[0], "rounds", 10**12)
            case "create_threads":
                self._threads = self._whole(line, arguments[0], "connections", _MOST_CONNECTIONS)
                self._ends, self._slept_s = [], 0.0
            case "unload_query_barrel":
                self._unload()
            case "collect_threads":
                self._report()
            case "disconnect":
                self._close()
            case "query":
                self._query(arguments[0], later)
            case "print":
                self._world.emit("output", arguments[0])
            case "sleep":
                self._sleep(line.position, arguments[0], arguments[1])
            case "run_save_result":
                self._save_result(line, arguments[0], arguments[1])
            case _:
                pass  # init, connect and run_check_result do nothing here by themselves.

    def _unload(self) -> None:
        """One engine process with the requested connections, each running its rounds of the barrel."""
        settings = self._world.settings
        lane = program.Lane(self._lane.index, self._lane.of, self._drawn)
        dictionaries = self._world.dictionaries.values()
        one = program.build(self._world.script, self._client, dictionaries, lane, settings.strict)
        whole = {**one.program, "session": self._waiting}
        if not settings.trust:
            refuse_reaching(self._world.script.file, reaching_statements(whole))
        self._drawn += one.draws * self._rounds * self._threads
        job = jobs.Job(
            target=self._target,
            # Client types that run in parallel draw different words.
            seed=settings.seed + self._lane.index,
            workload={"program": whole},
            phases=(
                jobs.Phase(
                    connections=self._threads,
                    arrival=jobs.closed_loop(),
                    work=jobs.rounds(self._rounds),
                ),
            ),
            answer_within_s=settings.query_timeout_s,
        )
        self._waiting = [sql for sql in self._waiting if sql.lstrip().lower().startswith("set ")]
        with Engine(job, LocalHost()) as engine:
            self._engine = engine
            if self._stopped:
                engine.request_stop()
            for message in engine:
                if isinstance(message, Hello):
                    self.server_version = message.server_version
                elif isinstance(message, PhaseEnd):
                    self._ends.append(message)
        self._engine = None

    def _report(self) -> None:
        report = reports.gather(self._client.name, self._threads, self._ends, self._slept_s)
        self.reports.append(report)
        self._world.emit("output", reports.as_text(report, self._world.settings.strict))
        self._ends, self._slept_s, self._threads = [], 0.0, 1

    def _query(self, sql: str, later: list[Call | Assignment]) -> None:
        """Every connection of the original runs it: those of a barrel to come as they open, else here."""
        methods = (line.method for line in later if isinstance(line, Call))
        next_step = next((one for one in methods if one in ("create_threads", "unload_query_barrel")), None)
        if next_step == "unload_query_barrel":
            self._waiting.append(sql)
            return
        for _ in range(self._threads):
            self._execute(sql)

    def _count(self, errors: dict[str, int], examples: dict[str, str]) -> None:
        """Errors that no report contains."""
        self.errors = added([self.errors, errors])
        self.error_examples = {**examples, **self.error_examples}

    def _execute(self, sql: str) -> tuple[list[str], list[tuple[object, ...]]]:
        """Column names and rows; an error is counted and has none of both."""
        if not self._world.settings.trust and reaches(sql):
            refuse_reaching(self._world.script.file, [sql])
        try:
            if self._session is None:
                self._session = sessions.connect(self._target, self._target.database)
            with self._session.cursor() as cursor:
                cursor.execute(sql)
                names = [column[0] for column in cursor.description or ()]
                return names, list(cursor.fetchall()) if names else []
        except dbapi.Error as error:
            code = str(sessions.code_of(error))
            self._count({code: 1}, {code: dbapi.text_of(error)})
            self._world.emit("note", f"{sql}: error {code}: {dbapi.text_of(error)}")
            return [], []

    def _sleep(self, place: Position, seconds: str, milliseconds: str) -> None:
        try:
            thousandths = float(milliseconds) / 1000
            length_s = float(seconds) + (thousandths / 1e6 if self._world.settings.strict else thousandths)
        except ValueError:
            given = f"{seconds}, {milliseconds}"
            raise self._wrong(place, "sleep takes seconds and milliseconds", given) from None
        self._slept_s += length_s
        until = time.monotonic() + length_s
        while not self._stopped and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))

    def _save_result(self, line: Call, name: str, target: str) -> None:
        query = self._world.script.named("query").get(name)
        if query is None:
            raise self._wrong(line.position, "unknown query", name)
        # Every connection of the original runs it and saves what it got; a file has that of the last.
        lines: list[str] = []
        for _ in range(self._threads):
            names, rows = self._execute(self._expanded(query))
            lines = ["\t".join(names)] if names else []
            lines += ["\t".join("NULL" if cell is None else str(cell) for cell in row) for row in rows]
            if target == "-":
                self._world.emit("output", "\n".join(lines))
        if target == "-":
            return
        folder = data.folder(self._world.script, self._world.settings)
        text = "".join(f"{text}\n" for text in lines)
        try:
            write_below(folder, folder / target, text.encode(), replace=self._world.settings.force)
        except OSError as error:
            hint = "a result file lies below the folder of the .smack file or --datadir; --force replaces one"
            raise UsageError(f"cannot write {folder / target}: {error.strerror}", hint) from None

    def _expanded(self, query: Section) -> str:
        """The query with one word for each dictionary in it."""
        world = self._world
        parts, _ = expand(query, world.dictionaries, world.script.file, world.settings.strict)
        choose = Random(world.settings.seed).choice
        return "".join(part if isinstance(part, str) else choose(self._words(part)) for part in parts)

    def _words(self, draw: Draw) -> tuple[str, ...]:
        dictionary = self._world.dictionaries[draw.dictionary]
        if not dictionary.words:
            raise UsageError(f"dictionary {dictionary.name} has no words for run_save_result")
        return dictionary.words if dictionary.type == "rand" else dictionary.words[:1]

    def _value(self, expression: Expression) -> str:
        mine = {report.client: report for report in self.reports}
        strict = self._world.settings.strict
        return evaluate(expression, self._world.arguments, self._variables, mine, strict)

    def _whole(self, line: Call, value: str, what: str, most: int) -> int:
        # A figure of a report has decimals under strict-compat.
        whole = value.removesuffix(f"{0:f}"[1:]) if self._world.settings.strict else value
        if not whole.isdecimal() or not 1 <= int(whole) <= most:
            message = f"{line.method} takes a number of {what} from 1 to {most}"
            raise self._wrong(line.arguments[0].position, message, value)
        return int(whole)

    def _wrong(self, place: Position, message: str, value: str) -> SpecErrors:
        return SpecErrors([Problem(self._world.script.file, place, message, value)])

    def _close(self) -> None:
        if self._session:
            with suppress(dbapi.Error):
                self._session.close()
            self._session = None
