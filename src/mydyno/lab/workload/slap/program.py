"""From options to the engine's program: an event is one statement of the pool, with what goes around it;
and the SQL that mysqlslap makes up: table t1, its rows, and the pool of statements.

Strings have 126 characters from 60 letters and digits, U and V missing (with `corrected` from all 62).
"""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from mydyno.core.errors import UsageError
from mydyno.lab.workload.compiler import dataset_of
from mydyno.lab.workload.ddl import read_definition
from mydyno.lab.workload.file import Resolved
from mydyno.lab.workload.slap.options import Options

MARK = "made by mydyno for slap"
"""The comment of the tables that this load may drop again."""
LENGTH = 126
_LARGEST_INT = 2**31 - 1
_LETTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_LETTERS_OF_SLAP = _LETTERS.replace("U", "").replace("V", "")


@dataclass(frozen=True)
class Row:
    """Values of the INT and VARCHAR columns, in their order."""

    ints: tuple[int, ...]
    texts: tuple[str, ...]

    @property
    def sql(self) -> str:
        return ",".join([*map(str, self.ints), *(f"'{text}'" for text in self.texts)])


@dataclass(frozen=True)
class Sql:
    """The texts of one choice of options; every client has the same ones."""

    create: str
    columns: tuple[str, ...]
    """The INT and VARCHAR columns."""
    preload: tuple[Row, ...]
    pool: tuple[Row, ...]

    @property
    def settings(self) -> tuple[str, ...]:
        """`column = value` lists of the pool's UPDATE statements."""
        return tuple(
            ",".join(
                f"{name} = {value}" for name, value in zip(self.columns, row.sql.split(","), strict=True)
            )
            for row in self.pool
        )


def write(options: Options) -> Sql:
    """All texts, from the options' seed."""
    random = Random(options.seed).random
    ints = [f"intcol{n}" for n in range(1, options.int_columns + 1)]
    texts = [f"charcol{n}" for n in range(1, options.char_columns + 1)]
    letters = _LETTERS if options.corrected else _LETTERS_OF_SLAP

    def row() -> Row:
        numbers = tuple(int(random() * (_LARGEST_INT + 1)) for _ in ints)
        words = ("".join(letters[int(random() * len(letters))] for _ in range(LENGTH)) for _ in texts)
        return Row(numbers, tuple(words))

    pool = tuple(row() for _ in range(options.pool))
    preload = tuple(row() for _ in range(options.preload_texts))
    return Sql(_create(options, ints, texts), (*ints, *texts), preload, pool)


def _create(options: Options, ints: list[str], texts: list[str]) -> str:
    columns = []
    if options.autoincrement:
        columns.append("id serial")
    elif options.guid_primary:
        columns.append("id varchar(36) primary key")
    columns += [f"id{n} varchar(36) unique key" for n in range(options.secondary_indexes)]
    columns += [f"{name} INT(32){f', INDEX({name})' if options.int_indexes else ''}" for name in ints]
    columns += [f"{name} VARCHAR(128){f', INDEX({name})' if options.char_indexes else ''}" for name in texts]
    engine = f" ENGINE = {options.engine}" if options.engine else ""
    return f"CREATE TABLE t1 ({','.join(columns)}){engine} COMMENT='{MARK}'"


def leading(options: Options) -> list[str]:
    """SQL of the values before the INT columns: keys, made by the server."""
    key = ["NULL"] if options.autoincrement else ["uuid()"] if options.guid_primary else []
    return key + ["uuid()"] * options.secondary_indexes


def preload_insert(options: Options, row: Row) -> str:
    """One INSERT before the load, with the keys that the server makes."""
    return f"INSERT INTO t1 VALUES ({','.join([*leading(options), row.sql])})"


_HEX = "0123456789abcdef"
_UUID_LENGTH = 36


@dataclass(frozen=True)
class OwnSql:
    """Statements of the user's instead of generated ones (--create and --query, already split)."""

    create: tuple[str, ...]
    queries: tuple[str, ...]


@dataclass(frozen=True)
class Load:
    """What the engine gets for one number of clients: its program, and the work of its phase."""

    program: dict[str, Any]
    work: dict[str, Any]
    per_client: int | None
    """None when the clients share the statements."""


def build(options: Options, clients: int, ids: Sequence[str], own: OwnSql | None = None) -> Load:
    """The load of `clients` connections on a table that is there; `ids` are the keys of its rows.

    Raises UsageError when no client would get a statement, and when transactions would be cut at an end that
    no client knows.
    """
    per_client = _own_count(options, clients, own) if own else options.per_client(clients)
    if options.commit and per_client is None:
        raise UsageError(
            f"{options.queries} statements do not divide by {clients} clients: no client knows its last one,"
            " after which it has to commit",
            "choose a number that divides, or leave out --commit or --corrected",
        )
    if per_client == 0:
        raise UsageError(
            f"{options.queries} queries for {clients} clients: none would get any", "raise queries"
        )
    steps, dictionaries = _own_steps(own) if own else _steps(options, {"words": list(ids)})
    pool = len(own.queries) if own else options.pool
    program = _program(options, steps, dictionaries, per_client, pool)
    return Load(program, _work(options, per_client), per_client)


def resolve(options: Options) -> Resolved:
    """As an experiment takes it: table t1 and its statements, for phases of any length and connections.

    The phase decides how often an event happens: `queries` and `execute_number` are ignored, and so is the
    commit of mysqlslap after the last event.
    """
    steps, dictionaries = _steps(options, {"query": "SELECT id FROM t1"})
    table, words = _table(options)
    program = {**_program(options, steps, {**dictionaries, **words}, None, options.pool), "tables": [table]}
    definition = read_definition(table["create"])
    assert definition is not None
    lengths: dict[str, float | None] = {name: LENGTH for name in table["columns"] if "char" in name}
    lengths |= {name: _UUID_LENGTH for name in table["columns"] if name.startswith("id")}
    return Resolved(
        name="slap",
        options=options.model_dump(mode="json"),
        program=program,
        dataset=dataset_of(program),
        rows=options.rows,
        data_bytes=round(
            options.rows * definition.row_bytes(lengths, (), ascending=not options.guid_primary)
        ),
        statements_per_event=1 + (1 / options.commit if options.commit else 0),
        tables=("t1",),
    )


def _program(
    options: Options, steps: list[Any], dictionaries: dict[str, Any], per_client: int | None, pool: int
) -> dict[str, Any]:
    session = ["SET AUTOCOMMIT=0"] if options.commit and not _loses_autocommit(options) else []
    around = _around(options, steps, per_client, pool)
    return {
        "name": "slap",
        "prepared": False,
        "open": "phase" if options.corrected else "lazy",
        "lost": "close",
        "retry": [],
        "session": session,
        "dictionaries": dictionaries,
        "values": {},
        "tables": [],
        "transactions": [{"name": "statement", "weight": 1, "steps": around}],
        "checks": [],
    }


def _work(options: Options, per_client: int | None) -> dict[str, Any]:
    if per_client is None:
        return {"kind": "events", "events": options.queries}
    return {"kind": "rounds", "rounds": per_client}


def _own_count(options: Options, clients: int, own: OwnSql) -> int | None:
    """Own statements are gone through once when no number is given."""
    if options.queries is None and options.execute_number is None:
        return len(own.queries)
    return options.per_client(clients)


def reported_per_client(options: Options, clients: int, own: OwnSql | None) -> int:
    """What mysqlslap reports as the queries of a client: 0 for the generated texts, once each."""
    if own is None and options.queries is None and options.execute_number is None:
        return 0
    count = _own_count(options, clients, own) if own else options.per_client(clients)
    return (options.queries or 0) // clients if count is None else count


def _own_steps(own: OwnSql) -> tuple[list[Any], dict[str, Any]]:
    send = {"send": {"name": "query", "sql": [{"raw": ["word", "queries", ["event"]]}]}}
    return [send], {"queries": {"words": list(own.queries)}}


def _steps(options: Options, ids: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The statement of an event, and the dictionaries that it draws from; `ids` is that of the keys."""
    texts = write(options)
    where = _where(options)
    if where and not options.rows:
        raise UsageError("there is no row before the load whose key could be used", "raise preload")
    dictionaries = {"ids": ids} if where else {}
    insert = _send("insert", ["INSERT INTO t1 VALUES (", *_keys(options), {"raw": _nth("rows")}, ")"])
    select = _send("select", [f"SELECT {','.join(texts.columns)} FROM t1", *where])
    update = _send("update", ["UPDATE t1 SET ", {"raw": _nth("settings")}, *where])
    rows = {"words": [row.sql for row in texts.pool]}
    match options.load_type:
        case "write":
            return [insert], {"rows": rows}
        case "read" | "key":
            return [select], dictionaries
        case "update":
            return [update], {**dictionaries, "settings": {"words": list(texts.settings)}}
    even = ["==", ["%", ["%", ["event"], options.pool], 2], 0]
    return [{"when": {"if": even, "steps": [insert], "else": [select]}}], {**dictionaries, "rows": rows}


def _send(name: str, parts: list[Any]) -> dict[str, Any]:
    """Neighbouring texts become one."""
    merged: list[Any] = []
    for part in parts:
        if merged and isinstance(part, str) and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return {"send": {"name": name, "sql": merged}}


def _nth(dictionary: str) -> list[Any]:
    """Every client goes through the pool from its start, again and again."""
    return ["word", dictionary, ["event"]]


def _where(options: Options) -> list[Any]:
    """By a random key of the rows before the load; a plain read never has it."""
    if not options.keyed or options.load_type in ("read", "write"):
        return []
    return [" WHERE id = ", {"value": ["pick", "ids"]}]


def _keys(options: Options) -> list[Any]:
    """The values before the pool's: as the server makes them, or with `corrected` random UUIDs."""
    if not options.corrected:
        return [f"{value}," for value in leading(options)]
    parts: list[Any] = []
    for value in leading(options):
        parts += [value if value == "NULL" else {"value": _uuid()}, ","]
    return parts


def _uuid() -> list[Any]:
    groups: list[Any] = []
    for length in (8, 4, 4, 4, 12):
        groups += ["-", ["letters", length, length, _HEX]]
    return ["concat", *groups[1:]]


def _loses_autocommit(options: Options) -> bool:
    """The original sets it on the first connection only, which --detach closes before the first statement."""
    return bool(options.detach) and not options.corrected


def _around(options: Options, steps: list[Any], per_client: int | None, pool: int) -> list[Any]:
    """The statement with reconnections before and commits after it; `pool` texts make a pass."""
    around: list[Any] = []
    if options.detach:
        if options.commit and _loses_autocommit(options):
            switch = [_send("set", ["SET AUTOCOMMIT=0"])]
            around.append({"when": {"if": ["==", ["event"], 0], "steps": switch}})
        # The original counts from 0 again with each pass through its texts.
        number = ["event"] if options.corrected else ["%", ["event"], pool]
        due = ["==", ["%", number, options.detach], 0]
        around.append({"when": {"if": due, "steps": [{"reconnect": True}]}})
    around += steps
    if options.commit:
        commit = [_send("commit", ["COMMIT"])]
        due = ["==", ["%", ["+", ["event"], 1], options.commit], 0]
        around.append({"when": {"if": due, "steps": commit}})
        if per_client is not None:
            around.append({"when": {"if": ["==", ["+", ["event"], 1], per_client], "steps": commit}})
    return around


def _table(options: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    """Table t1 with its first rows, for an engine that has to load them, and the words that it takes."""
    texts = write(options)
    keys = ["id"] if options.keyed else []
    row: list[Any] = [None if options.autoincrement else _uuid()] if keys else []
    row += [_uuid()] * options.secondary_indexes
    row += [["word", f"preload {name}", ["-", ["row"], 1]] for name in texts.columns]
    table = {
        "name": "t1",
        "create": texts.create,
        "columns": [*keys, *(f"id{n}" for n in range(options.secondary_indexes)), *texts.columns],
        "rows": options.rows,
        "let": [],
        "row": row,
        "then": [],
    }
    values = [[*map(str, one.ints), *one.texts] for one in texts.preload]
    words = {
        f"preload {name}": {"words": [value[number] for value in values]}
        for number, name in enumerate(texts.columns)
    }
    return table, words
