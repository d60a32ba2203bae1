"""What is known of the tables that statements name: columns, indexes, sizes."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.core.server_version import Version
from mydyno.survey.facts.indexes import TableIndex
from mydyno.survey.facts.unread import Unread


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
