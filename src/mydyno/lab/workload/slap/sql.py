"""The SQL that mysqlslap makes up: table t1, its rows, and the pool of statements.

Strings have 126 characters from 60 letters and digits, U and V missing (with `corrected` from all 62).
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from random import Random

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
