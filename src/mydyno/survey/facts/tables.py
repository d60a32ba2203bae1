"""Tables and indexes that advice is about: counts, and the first few names of each kind."""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.core.record import Record


class Table(Record):
    name: str
    """`schema.table`."""
    engine: str
    rows: int | None = None
    """An estimate of the server."""
    data_bytes: int | None = None
    index_bytes: int | None = None
    free_bytes: int | None = None
    """Inside its own file."""
    auto_increment_used: float | None = None
    """The part of the column's range that is used up."""


class Index(Record):
    table: str
    name: str
    columns: tuple[str, ...] = ()
    covered_by: str | None = None
    """The index that begins with the same columns."""
    hidden: bool = False
    """Whether the optimizer does not look at it: INVISIBLE in MySQL, IGNORED in MariaDB."""


_INNODB = "InnoDB"


class Schema(Record):
    """User tables alone. A tuple holds the largest first, at most 100; None: it was not read."""

    tables: int
    partial: bool = False
    """The account sees only the tables that it has a right to: there may be others."""
    bytes_by_engine: Mapping[str, int] | None = None
    """Data and indexes; without the engines of which a table's size is not known."""
    tables_by_engine: Mapping[str, int] | None = None
    without_primary_key: tuple[Table, ...] | None = None
    other_engines: tuple[Table, ...] | None = None
    """Tables that are neither InnoDB nor of the server's own."""
    fragmented: tuple[Table, ...] | None = None
    """Of which a good part is free."""
    nearly_full_counters: tuple[Table, ...] | None = None
    unused_indexes: tuple[Index, ...] | None = None
    """Since the server's start, without those that a foreign key needs; None: it does not count."""
    redundant_indexes: tuple[Index, ...] | None = None

    @property
    def innodb_bytes(self) -> int | None:
        """Of all InnoDB tables; None where a part of them is not known."""
        if self.partial or self.bytes_by_engine is None:
            return None
        counted = self.tables_by_engine or {}
        none = _INNODB not in counted and sum(counted.values()) == self.tables
        return self.bytes_by_engine.get(_INNODB, 0 if none else None)

    @property
    def seen_bytes(self) -> int:
        """Of the tables whose size is known: at least so much there is."""
        return sum((self.bytes_by_engine or {}).values())
