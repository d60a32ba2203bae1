"""A run that comes from elsewhere, in a temporary database, seen to be whole before a lab takes it in.

It is read row by row and kept on the disk: however large it says that it is, only a line of it, a batch of
rows and one trial are in memory at a time.
"""

import hashlib
import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mydyno.core.closing import Closing
from mydyno.lab.results.database import migrate
from mydyno.lab.results.plain_rows import Placement, PlainTable, PlainWriter, Value, plain_tables
from mydyno.lab.results.rows import select_trials
from mydyno.lab.results.run_rows import select_run
from mydyno.lab.results.schema import MIGRATIONS

MOST_LINE_BYTES = 4 << 20
"""Of one row: the text of an experiment file is in one."""
MOST_TRIALS = 100_000
MOST_ROWS = 100_000
"""Of one trial in all tables, or of the run itself. sql-bench has some thousands."""
MOST_BYTES = 16 << 20
"""Of those rows."""


@dataclass(frozen=True)
class _Head:
    table: str
    columns: tuple[str, ...]


class StagedRun(Closing):
    """The lines of one run (`PlainRun.lines`) are written into it; `finish` sees that they make a run.

    `format`: the version of the tables that the rows are of.
    """

    def __init__(self, version: int) -> None:
        self._version = version
        self._rest = b""
        self._line = 0
        self._head: _Head | None = None
        self._tables: set[str] = set()
        self._sizes: Counter[Value] = Counter()
        self._counts: Counter[Value] = Counter()
        # The empty name is a temporary database: in memory while it is small, else in a file without a name.
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.row_factory = sqlite3.Row
        migrate(self._database, MIGRATIONS[:version], 0)
        self._database.execute("PRAGMA foreign_keys = OFF")
        self._database.execute("BEGIN")
        self._writer = PlainWriter(self._database, Placement())

    def close(self) -> None:
        self._database.close()

    def write(self, content: bytes, /) -> None:
        """A part of the lines. Raises ValueError with the line that cannot be read."""
        *lines, self._rest = (self._rest + content).split(b"\n")
        for line in lines:
            self._take(line)
        if len(self._rest) > MOST_LINE_BYTES:
            raise ValueError(f"line {self._line + 1} is longer than {MOST_LINE_BYTES} bytes")

    def finish(self) -> None:
        """The rows are brought into the tables of this version, and seen to be whole: every row fits its
        table, refers to rows that are there, and makes a record. Raises ValueError when it does not."""
        if self._rest:
            self._take(self._rest)
        with _explained():
            self._database.execute("COMMIT")
            migrate(self._database, MIGRATIONS, self._version)
            dangling = self._database.execute("PRAGMA foreign_key_check").fetchone()
            if dangling is not None:
                raise ValueError(f"a row of {dangling['table']} refers to one that is not there")
            (runs,) = self._database.execute("SELECT count(*) FROM runs").fetchone()
            if runs != 1:
                raise ValueError(f"it holds {runs} runs, not one")
            self._look_at_trials()

    @property
    def trial_folders(self) -> frozenset[str]:
        rows = self._database.execute("SELECT folder FROM main.trials")
        return frozenset(str(row["folder"]) for row in rows)

    @property
    def plan_fingerprint(self) -> str:
        (found,) = self._database.execute("SELECT plan_fingerprint FROM runs").fetchone()
        return str(found)

    def tables(self) -> Iterator[PlainTable]:
        return plain_tables(self._database, 1)

    def is_run(self, connection: sqlite3.Connection, run_id: int) -> bool:
        """Whether a run of a lab has the same rows."""
        return _digest(self.tables()) == _digest(plain_tables(connection, run_id))

    def _take(self, line: bytes) -> None:
        self._line += 1
        with _explained(f"line {self._line}: "):
            if len(line) > MOST_LINE_BYTES:
                raise ValueError(f"it is longer than {MOST_LINE_BYTES} bytes")
            one = json.loads(line, parse_constant=_not_finite)
            if isinstance(one, dict):
                self._head = self._table(one)
            else:
                self._insert(self._row(one), len(line))

    def _table(self, one: dict[str, Any]) -> _Head:
        name, columns = one.get("table"), one.get("columns")
        if not isinstance(name, str) or name in self._tables or not isinstance(columns, list):
            raise ValueError("not the head of a table")
        if not all(isinstance(each, str) for each in columns) or len(set(columns)) < len(columns):
            raise ValueError("not the head of a table")
        self._tables.add(name)
        self._writer.check(name, columns)
        return _Head(name, tuple(columns))

    def _row(self, one: object) -> tuple[Value, ...]:
        name = self._head and self._head.table
        columns = self._head.columns if self._head else ()
        if not isinstance(one, list) or not columns or len(one) != len(columns):
            raise ValueError(f"not a row of the table {name!r}")
        for value in one:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (value is None or isinstance(value, str) or (is_number and math.isfinite(value))):
                raise ValueError(f"not a row of the table {name!r}")
        return tuple(one)

    def _insert(self, row: tuple[Value, ...], size: int) -> None:
        assert self._head is not None
        of_trial = "trial_key" in self._head.columns
        owner = row[self._head.columns.index("trial_key")] if of_trial else None
        self._counts[owner] += 1
        self._sizes[owner] += size
        if len(self._counts) > MOST_TRIALS + 1:
            raise ValueError(f"it has more than {MOST_TRIALS} trials")
        if self._counts[owner] > MOST_ROWS or self._sizes[owner] > MOST_BYTES:
            what = f"the trial {owner}" if of_trial else "the run"
            raise ValueError(f"{what} has more than {MOST_ROWS} rows or {MOST_BYTES} bytes of them")
        self._writer.insert(self._head.table, self._head.columns, row)

    def _look_at_trials(self) -> None:
        """Makes the record of each trial, one at a time: a view shows the readers of all trials only one."""
        stored = select_run(self._database, 1)
        levels = {point.point_id: point.levels for point in stored.experiment.points}
        self._database.execute("CREATE TEMP TABLE one (trial_key INTEGER)")
        self._database.execute("INSERT INTO one VALUES (0)")
        self._database.execute(
            "CREATE TEMP VIEW trials AS "
            "SELECT * FROM main.trials WHERE trial_key = (SELECT trial_key FROM one)"
        )
        keys = self._database.execute("SELECT trial_key FROM main.trials ORDER BY trial_key")
        for (key,) in keys.fetchall():
            self._database.execute("UPDATE one SET trial_key = ?", (key,))
            select_trials(self._database, 1, levels)
        self._database.execute("DROP VIEW temp.trials")
        self._database.execute("DROP TABLE one")


@contextmanager
def _explained(where: str = "") -> Iterator[None]:
    """What rows that were tampered with lead to, as a ValueError."""
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}{error}") from error
    except (sqlite3.Error, LookupError, TypeError, ArithmeticError) as error:
        raise ValueError(f"{where}{type(error).__name__}: {error}") from error


def _not_finite(name: str) -> float:
    raise ValueError(f"{name} is not a number of JSON")


def _digest(tables: Iterable[PlainTable]) -> bytes:
    """Of the rows; empty tables do not count."""
    sha256 = hashlib.sha256()
    for name, columns, rows in tables:
        for row in rows:
            sha256.update(json.dumps((name, columns, row)).encode())
    return sha256.digest()
