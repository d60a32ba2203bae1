"""What can be chosen: the options of mysqlslap that shape its auto-generated SQL, checked."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from mydyno.core.document.base import Fault, Section, clash, refuse
from mydyno.core.document.quantities import MOST_CONNECTIONS
from mydyno.core.errors import UsageError
from mydyno.core.nearest import nearest
from mydyno.lab.workload.ddl import STORAGE_ENGINES
from mydyno.lab.workload.options import unknown_engine

_MOST_COLUMNS = 512
_MOST_ROWS = 10_000_000


Count = Annotated[int, Field(ge=0, le=_MOST_ROWS)]
Columns = Annotated[int, Field(ge=0, le=_MOST_COLUMNS)]


def _storage_engine(name: str) -> str:
    if name.lower() not in STORAGE_ENGINES:
        raise refuse(unknown_engine(name))
    return name


class Options(Section):
    """The names of mysqlslap are in the descriptions, without their `--auto-generate-sql-`."""

    load_type: Literal["mixed", "write", "read", "update", "key"] = Field(
        "mixed", description="load-type: what each client sends."
    )
    int_columns: Columns = Field(1, description="number-int-cols: INT columns of table t1.")
    char_columns: Columns = Field(1, description="number-char-cols: VARCHAR(128) columns of table t1.")
    int_indexes: bool = Field(False, description="number-int-cols=N:1: an index on every INT column.")
    char_indexes: bool = Field(False, description="number-char-cols=N:1: an index on every VARCHAR column.")
    secondary_indexes: Columns = Field(0, description="secondary-indexes: unique columns with a UUID.")
    guid_primary: bool = Field(False, description="guid-primary: the key is a UUID.")
    autoincrement: bool = Field(False, description="add-autoincrement: the key is a serial number.")
    preload: Count = Field(100, description="write-number: rows before the load begins.")
    preload_texts: Annotated[int, Field(ge=1, le=10_000)] = Field(
        10, description="unique-write-number: different rows among them."
    )
    texts: Annotated[int, Field(ge=1, le=10_000)] = Field(
        10, description="unique-query-number: different statements that each client goes through."
    )
    queries: Annotated[int, Field(ge=1)] | None = Field(
        None, description="number-of-queries: of all clients together."
    )
    execute_number: Annotated[int, Field(ge=1)] | None = Field(
        None, description="execute-number: statements of each client."
    )
    commit: Count = Field(0, description="commit: statements of a transaction; 0: autocommit.")
    detach: Count = Field(0, description="detach: statements after which a client connects again; 0: never.")
    engine: Annotated[str, AfterValidator(_storage_engine)] | None = Field(
        None, description="engine: of table t1; none: the server's default."
    )
    corrected: bool = Field(False, description="Do what the options say where mysqlslap does not.")
    seed: Annotated[int, Field(ge=0, lt=2**64)] = Field(1, description="Seed of the generated values.")

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        keyed = raw.get("guid_primary") or raw.get("autoincrement")
        if raw.get("load_type") == "key" and not keyed:
            yield clash("load_type", "load type key needs a key", "guid_primary or autoincrement with it")
        if raw.get("guid_primary") and raw.get("autoincrement"):
            yield clash("autoincrement", "a table has one primary key", "guid_primary or autoincrement")
        if raw.get("queries") is not None and raw.get("execute_number") is not None:
            yield clash("execute_number", "queries and execute_number exclude each other", "one of them")
        if raw.get("int_columns", 1) == 0 and raw.get("char_columns", 1) == 0:
            yield clash("char_columns", "table t1 would have no columns", "1 or more of one kind")

    @property
    def keyed(self) -> bool:
        return self.guid_primary or self.autoincrement

    @property
    def pool(self) -> int:
        """Texts in the pool that all clients go through."""
        return self.texts if self.corrected else self.texts + 1

    @property
    def rows(self) -> int:
        """Rows before the load: the original stops one short."""
        return self.preload if self.corrected else max(self.preload - 1, 0)

    def per_client(self, clients: int) -> int | None:
        """Statements of each client; None when they share `queries` and it does not divide (corrected)."""
        if self.execute_number is not None:
            return self.execute_number
        if self.queries is None:
            return self.pool
        if self.corrected and self.queries % clients:
            return None
        return self.queries // clients


def split_columns(text: str) -> tuple[int, bool]:
    """`10` or `10:1` (with an index on each) of --number-int-cols. Raises UsageError."""
    match = re.fullmatch(r"(\d{1,4})(?::(\d))?", text)
    if match is None or match[2] not in (None, "0", "1"):
        raise UsageError(f"{text!r} is not a number of columns", "as 10, or 10:1 for an index on each")
    return int(match[1]), match[2] == "1"


def number_list(text: str) -> tuple[int, ...]:
    """The numbers of clients in `2` or `1,10,100`. Raises UsageError."""
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not word.isdecimal() or not 1 <= int(word) <= MOST_CONNECTIONS:
            raise UsageError(
                f"{word!r} is not a number of clients", f"1 to {MOST_CONNECTIONS}, as 2 or 1,10,100"
            )
    return tuple(map(int, words))


def engine_names(text: str) -> tuple[str, ...]:
    """The storage engines of a list as `innodb,myisam`. Raises UsageError for one that there is not."""
    names = tuple(word.strip() for word in text.split(","))
    for name in names:
        if name.lower() not in STORAGE_ENGINES:
            near = nearest(name, STORAGE_ENGINES)
            meant = f"did you mean {near}?" if near else f"there are {', '.join(STORAGE_ENGINES)}"
            raise UsageError(f"unknown storage engine {name!r}", meant)
    return names


@dataclass(frozen=True)
class Oddity:
    """`original` is what mysqlslap does, and so does this load; `corrected` what --corrected does."""

    name: str
    original: str
    corrected: str

    def message(self, corrected: bool) -> str:
        if corrected:
            return f"[{self.name}] corrected: {self.corrected} (mysqlslap: {self.original})"
        return f"[{self.name}] as mysqlslap: {self.original} (--corrected: {self.corrected})"


def met(options: Options, clients: int, own_sql: bool = False) -> list[Oddity]:
    """The oddities that these options meet with so many clients, in the order of a run."""
    return [*(() if own_sql else _of_data(options)), *_of_run(options, clients, own_sql)]


def _of_data(options: Options) -> Iterator[Oddity]:
    if options.preload:
        short = max(options.preload - 1, 0)
        yield Oddity("one-row-less", f"{short} rows before the load", f"{options.preload} rows")
    yield Oddity("one-text-more", f"clients go through {options.texts + 1} texts", f"{options.texts} texts")
    yield Oddity(
        "same-data",
        "every run has the same values, and the letters U and V never come",
        "all letters and digits; with and without, another --seed makes other values",
    )
    if options.guid_primary or options.secondary_indexes:
        yield Oddity(
            "ascending-uuid",
            "UUIDs are the server's uuid(), which ascend for about 7 minutes: no random keys",
            "random UUIDs",
        )
    if options.load_type == "mixed" and options.texts % 2 == 0:
        writes = options.texts // 2 + 1
        share = 100 * writes / (options.texts + 1)
        yield Oddity(
            "uneven-mix", f"{writes} of {options.texts + 1} statements write ({share:.1f}%)", "half of them"
        )
    scans = options.load_type == "read" or (options.load_type == "mixed" and not options.keyed)
    if scans:
        yield Oddity("full-scan", "every SELECT reads the whole table", "the same: the load type says so")
    if options.load_type == "update" and not options.keyed:
        yield Oddity("whole-table-update", "without a key every UPDATE writes the whole table", "the same")


def _of_run(options: Options, clients: int, own_sql: bool) -> Iterator[Oddity]:
    if options.queries is not None and options.queries % clients:
        left = options.queries % clients
        yield Oddity(
            "queries-left-out",
            f"{left} of {options.queries} statements are not run ({clients} clients)",
            "all are run",
        )
    yield Oddity(
        "connect-in-time", "connecting is part of the time", "connections are open before the clock starts"
    )
    if options.detach and not own_sql:
        yield Oddity(
            "detach-by-pass",
            f"statements are counted from 0 again after each pass through the {options.texts + 1} texts",
            "counted through",
        )
    if options.detach and options.commit:
        yield Oddity(
            "detach-loses-autocommit",
            "a new connection commits each statement by itself",
            "AUTOCOMMIT=0 on every connection",
        )
