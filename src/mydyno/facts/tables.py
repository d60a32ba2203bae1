"""What stands out in the schema: counts, and the first few names of each kind."""

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


class Schema(Record):
    """User tables alone. A tuple holds the largest first, at most 100."""

    tables: int
    bytes_by_engine: Mapping[str, int] = {}
    """Data and indexes."""
    tables_by_engine: Mapping[str, int] = {}
    without_primary_key: tuple[Table, ...] = ()
    other_engines: tuple[Table, ...] = ()
    """Tables that are neither InnoDB nor of the server's own."""
    fragmented: tuple[Table, ...] = ()
    """Of which a good part is free."""
    nearly_full_counters: tuple[Table, ...] = ()
    unused_indexes: tuple[Index, ...] | None = None
    """Since the server's start, without those that a foreign key needs; None: it does not count."""
    redundant_indexes: tuple[Index, ...] = ()

    @property
    def innodb_bytes(self) -> int | None:
        return self.bytes_by_engine.get("InnoDB")
