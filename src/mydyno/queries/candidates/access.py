"""What one block of a statement (a SELECT, UPDATE or DELETE) needs of one of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mydyno.queries.candidates.schema import Definition, TableName

Verb = Literal["SELECT", "UPDATE", "DELETE"]
Clause = Literal["ORDER BY", "GROUP BY", "MIN/MAX"]


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
