"""What is known of the tables that statements name: columns, indexes, sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mydyno.core.server_version import Version
from mydyno.survey.facts.indexes import TableIndex
from mydyno.survey.facts.system import Unread

Verb = Literal["SELECT", "UPDATE", "DELETE"]
Clause = Literal["ORDER BY", "GROUP BY", "MIN/MAX"]


@dataclass(frozen=True, order=True)
class TableName:
    name: str
    database: str = ""
    """Empty where neither the statement nor its session names it."""

    def __str__(self) -> str:
        return f"{self.database}.{self.name}" if self.database else self.name


@dataclass(frozen=True)
class Column:
    name: str
    kind: str
    """The type alone, in lower case: `varchar`."""
    type: str
    """As CREATE TABLE has it: `varchar(40)`, `enum('new','paid')`."""
    nullable: bool = True
    collation: str | None = None
    bytes: int | None = None
    """The most that a value of characters takes."""
    characters: int | None = None


@dataclass(frozen=True)
class Definition:
    """A table as information_schema has it."""

    name: TableName
    engine: str | None = "InnoDB"
    """None for a view."""
    rows: int | None = None
    """As the server guesses."""
    row_format: str | None = None
    columns: tuple[Column, ...] = ()
    indexes: tuple[TableIndex, ...] = ()

    @property
    def is_view(self) -> bool:
        return self.engine is None

    def column(self, name: str) -> Column | None:
        """By its name in any case, as servers compare the names of columns."""
        folded = name.casefold()
        return next((each for each in self.columns if each.name.casefold() == folded), None)


@dataclass(frozen=True)
class Schema:
    """The tables that were found, and why others were not."""

    release: Version | None = None
    tables: tuple[Definition, ...] = ()
    unread: tuple[Unread, ...] = ()

    def find(self, name: TableName) -> Definition | None:
        """In any case where there is no exact match; without a database only a name that one table has."""
        named = [each for each in self.tables if each.name.name.casefold() == name.name.casefold()]
        if name.database:
            named = [each for each in named if each.name.database.casefold() == name.database.casefold()]
        exact = [each for each in named if each.name.name == name.name]
        possible = exact or named
        return possible[0] if len(possible) == 1 else None


@dataclass(frozen=True)
class Obstacle:
    """A condition that no index on its columns can look up as it is written."""

    columns: tuple[str, ...]
    """Those of which an index is of no use; none where one may still help, by index_merge for one."""
    says: str
    """What is in the way, and what to write instead."""


@dataclass(frozen=True)
class Sorting:
    """ORDER BY or GROUP BY, where all of it is columns of this table."""

    columns: tuple[str, ...]
    descending: frozenset[str]
    """Those that go down."""
    clause: Clause


@dataclass(frozen=True)
class Access:
    """All columns in lower case; `spelled` has them as the statement writes them."""

    table: TableName
    alias: str
    """By which EXPLAIN calls it."""
    verb: Verb
    definition: Definition | None = None
    equal: tuple[str, ...] = ()
    """Compared with one value: =, <=>, IS NULL."""
    lists: tuple[str, ...] = ()
    """Compared with several: IN, OR of the same column."""
    ranges: tuple[str, ...] = ()
    joins: tuple[tuple[str, frozenset[str]], ...] = ()
    """Equal to something of these other tables (aliases) of the block."""
    sorting: Sorting | None = None
    unsorted: str | None = None
    """Why its ORDER BY or GROUP BY, if it has one, can be read from no index."""
    limited: bool = False
    locks: bool = False
    """Whether it locks the rows that it reads."""
    follows: frozenset[str] = frozenset()
    """Tables (aliases) that an outer join reads before it."""
    read: frozenset[str] | None = None
    """Every column that the block uses; None for all of the table's."""
    obstacles: tuple[Obstacle, ...] = ()
    spelled: Mapping[str, str] = field(default_factory=dict)
