"""Which tables of a trace are missing, the same for a server and for data."""

from __future__ import annotations

import pytest

from mydyno.core.errors import UsageError
from mydyno.lab.trial.traced_tables import missing_tables
from mydyno.lab.workload.trace import Survey, TracedTable


def survey(*tables: tuple[str | None, str]) -> Survey:
    return Survey(
        server=None,
        source="slow-log",
        masked=False,
        resolution_us=1,
        start_us=None,
        statements=1,
        connections=1,
        peak_connections=1,
        length_us=1,
        trace_length_us=1,
        fingerprints=1,
        schemas=(),
        without_schema=0,
        tables=tuple(TracedTable(schema=schema, name=name) for schema, name in tables),
        replayed=1,
        skipped={},
    )


def missing(schema: str | None, *tables: tuple[str | None, str]) -> list[str]:
    return missing_tables(survey(*tables), schema, {"shop.orders"}, "the data", "load it")


def test_nothing_is_said_where_every_table_is_there_or_not_of_the_users() -> None:
    assert missing(None, ("Shop", "ORDERS"), ("mysql", "user"), (None, "unknown")) == []


def test_a_table_without_a_schema_is_looked_for_in_the_given_one() -> None:
    assert missing("shop", (None, "orders")) == []


def test_some_missing_tables_are_named() -> None:
    assert missing(None, ("shop", "orders"), ("shop", "items")) == [
        "1 table of 2 that the trace names not found in the data: shop.items;"
        " unless the trace makes it, its statements fail"
    ]


def test_all_missing_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"has none of the tables of the trace: shop\.items") as found:
        missing(None, ("shop", "items"))
    assert found.value.hint == "load it"
