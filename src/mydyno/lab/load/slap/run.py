"""The driver: for each engine, number of clients and iteration a fresh schema, then the load."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mydyno.core.errors import EngineError, UsageError
from mydyno.core.interruption import stopping, uninterrupted
from mydyno.core.nearest import nearest
from mydyno.core.plurals import counted
from mydyno.core.sql_names import quote
from mydyno.lab.load import job as jobs
from mydyno.lab.load import sessions
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.failures import added, listed
from mydyno.lab.load.job import Target
from mydyno.lab.load.messages import Hello, PhaseEnd
from mydyno.lab.load.slap import report
from mydyno.lab.load.slap.report import Block, Pass
from mydyno.lab.workload import slap
from mydyno.lab.workload.slap import Options, OwnSql
from mydyno.lab.workload.slap.program import MARK, preload_insert, write
from mydyno.machine.local import LocalHost
from mydyno.server.access import dbapi

Emit: TypeAlias = Callable[[Literal["output", "note"], str], None]
"""Takes each text as it comes up: `output` is what mysqlslap would print, `note` is ours."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is run how often. `options.engine` is replaced by each of `engines`, where there are any."""

    options: Options = field(default_factory=Options)
    own: OwnSql | None = None
    engines: tuple[str, ...] = ()
    concurrency: tuple[int, ...] = (1,)
    iterations: int = 1
    pre_query: tuple[str, ...] = ()
    post_query: tuple[str, ...] = ()
    init_command: str | None = None
    no_drop: bool = False
    drop_existing: bool = False
    query_timeout_s: float = 60.0
    """A statement without an answer for so long fails, and its connection is closed."""
    csv: bool = False
    strict: bool = False
    """Print what mysqlslap prints and nothing else."""


@dataclass(frozen=True)
class Result:
    blocks: tuple[Block, ...]
    server_version: str | None
    seed: int
    interrupted: bool


def run(target: Target, settings: Settings, emit: Emit) -> Result:
    """Run all combinations in the schema `target.database`, which is dropped before and after each.

    Blocks are emitted as they are finished. Ctrl-C and SIGTERM end the load early; what was finished is kept,
    and the schema is dropped, also by a KeyboardInterrupt between two loads. Raises
    UsageError for a schema with tables that this load did not make (unless `drop_existing`) and for an
    engine that the server does not have, ServerError when the server refuses a statement of the set-up.
    """
    driver = _Driver(target, settings, emit)
    try:
        try:
            with sessions.connect(target) as connection, connection.cursor() as cursor:
                return driver.run(cursor)
        except KeyboardInterrupt:
            driver.drop_unfinished()
            raise
    except dbapi.Error as error:
        raise sessions.failed(target, driver.doing, error) from None


class _Driver:
    def __init__(self, target: Target, settings: Settings, emit: Emit) -> None:
        self._target = target
        self._settings = settings
        self._emit = emit
        self._version: str | None = None
        self._interrupted = False
        self._aborted = False
        self._made = False
        self.doing = "connecting"
        """For messages: what is being done on the server."""

    def run(self, cursor: dbapi.Cursor) -> Result:
        self.doing = "reading the schema"
        self._check(cursor)
        blocks = []
        for options, clients in self._combinations():
            for oddity in slap.met(options, clients, bool(self._settings.own)):
                if not self._settings.strict:
                    self._emit("note", oddity.message(options.corrected))
            passes = tuple(self._passes(cursor, options, clients))
            if not passes:
                break
            per_client = slap.reported_per_client(options, clients, self._settings.own)
            block = Block(options.engine, clients, options.load_type, per_client, passes)
            blocks.append(block)
            csv, strict = self._settings.csv, self._settings.strict
            self._emit("output", report.as_csv(block) if csv else report.as_text(block, strict))
            if self._aborted:
                break  # The server may be gone: the figures are kept, the schema is left.
        if not (self._settings.no_drop or self._aborted):
            self.doing = "dropping the schema"
            self._drop(cursor)
        return Result(tuple(blocks), self._version, self._settings.options.seed, self._interrupted)

    def drop_unfinished(self) -> None:
        """Drop the schema after an interruption, by a new connection: the old one may be in mid-answer."""
        if self._made and not self._settings.no_drop:
            self.doing = "dropping the schema"
            with uninterrupted(), sessions.connect(self._target) as connection, connection.cursor() as cursor:
                self._drop(cursor)

    def _drop(self, cursor: dbapi.Cursor) -> None:
        cursor.execute(f"DROP SCHEMA IF EXISTS {quote(self._target.database)}")
        self._made = False

    def _combinations(self) -> Iterator[tuple[Options, int]]:
        settings = self._settings
        for engine in settings.engines or (settings.options.engine,):
            for clients in settings.concurrency:
                yield settings.options.model_copy(update={"engine": engine}), clients

    def _check(self, cursor: dbapi.Cursor) -> None:
        """Nothing is dropped before the server is known to have every engine and the schema is ours."""
        if not self._settings.drop_existing:
            database = self._target.database
            sessions.refuse_foreign(sessions.foreign_tables(cursor, database, mark=MARK), database)
        wanted = {options.engine for options, _ in self._combinations() if options.engine}
        if not wanted:
            return
        cursor.execute("SHOW ENGINES")
        has = {str(row[0]) for row in cursor.fetchall() if str(row[1]).upper() in ("YES", "DEFAULT")}
        for name in sorted(wanted):
            if name.lower() not in {one.lower() for one in has}:
                near = nearest(name, has)
                meant = f"did you mean {near}?" if near else f"the server has {', '.join(sorted(has))}"
                raise UsageError(f"unknown storage engine {name!r}", meant)

    def _passes(self, cursor: dbapi.Cursor, options: Options, clients: int) -> Iterator[Pass]:
        for _ in range(self._settings.iterations):
            if self._interrupted:
                return
            ids = self._set_up(cursor, options)
            load = slap.build(options, clients, ids, self._settings.own)
            self.doing = "the pre-query"
            _execute_all(cursor, self._settings.pre_query)
            finished = self._load(load, clients)
            if finished.aborted:
                self._aborted = True
                yield finished
                return
            self.doing = "the post-query"
            _execute_all(cursor, self._settings.post_query)
            yield finished

    def _set_up(self, cursor: dbapi.Cursor, options: Options) -> list[str]:
        """A fresh schema with its tables and first rows; gives the keys of the rows, if there are any."""
        schema = quote(self._target.database)
        self.doing = "creating the schema"
        cursor.execute(f"DROP SCHEMA IF EXISTS {schema}")
        self._made = True
        cursor.execute(f"CREATE SCHEMA {schema}")
        cursor.connection.select_db(self._target.database)
        if self._settings.own:
            self._create_own(cursor, options, self._settings.own)
            return []
        self.doing = "creating table t1"
        texts = write(options)
        cursor.execute(texts.create)
        for number in range(options.rows):
            cursor.execute(preload_insert(options, texts.preload[number % len(texts.preload)]))
        if not options.keyed:
            return []
        cursor.execute("SELECT id FROM t1")
        return [str(key) for (key,) in cursor.fetchall()]

    def _create_own(self, cursor: dbapi.Cursor, options: Options, own: OwnSql) -> None:
        self.doing = "the statements of --create"
        if options.engine:
            cursor.execute("SET default_storage_engine = %s", (options.engine,))
        _execute_all(cursor, own.create)
        for name, _ in sessions.foreign_tables(cursor, self._target.database, mark=MARK):
            sessions.mark(cursor, name, MARK)

    def _load(self, load: slap.Load, clients: int) -> Pass:
        program = load.program
        if self._settings.init_command:
            program = {**program, "session": [self._settings.init_command, *program["session"]]}
        job = jobs.Job(
            target=self._target,
            seed=self._settings.options.seed,
            workload={"program": program},
            phases=(jobs.Phase(connections=clients, arrival=jobs.closed_loop(), work=load.work),),
            answer_within_s=self._settings.query_timeout_s,
        )
        end: PhaseEnd | None = None
        with Engine(job, LocalHost()) as engine, stopping(engine.request_stop):
            for message in engine:
                if isinstance(message, Hello):
                    self._version = message.server_version
                elif isinstance(message, PhaseEnd):
                    end = message
        if end is None:
            raise KeyboardInterrupt
        self._interrupted = end.interrupted
        return report.pass_of(end)


def _execute_all(cursor: dbapi.Cursor, statements: tuple[str, ...]) -> None:
    for statement in statements:
        cursor.execute(statement)


def split_sql(text: str, delimiter: str) -> tuple[str, ...]:
    r"""The statements in `text`; `delimiter` may be any text, mysqlslap's default being a newline."""
    return tuple(part.strip() for part in text.split(delimiter) if part.strip())


def complain(result: Result) -> None:
    """Raises EngineError when a statement or connection failed."""
    passes = [one for block in result.blocks for one in block.passes]
    errors = added(block.errors for block in result.blocks)
    aborted = next((one.aborted for one in passes if one.aborted), None)
    if not errors and not aborted:
        return
    examples = {code: text for one in passes for code, text in one.error_examples.items()}
    failed = f"{counted(sum(errors.values()), 'statement')} failed ({listed(errors, examples)})"
    raise EngineError(failed, aborted)
