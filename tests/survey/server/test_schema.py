"""What stands out among tables."""

from __future__ import annotations

import pytest

from mydyno.survey.facts import Index, Table
from mydyno.survey.facts.indexes import Part, TableIndex
from mydyno.survey.server.schema import LISTED, counter_used, made

MIB = 1 << 20


def table(name: str, engine: str = "InnoDB", data: int = MIB, free: int = 0) -> Table:
    return Table(name=name, engine=engine, rows=10, data_bytes=data, index_bytes=0, free_bytes=free)


def primary(name: str) -> TableIndex:
    return TableIndex(name, "PRIMARY", True, "BTREE", (Part("id"),))


def test_tables_are_counted_by_engine_and_named_by_what_stands_out() -> None:
    tables = [table("s.a"), table("s.b", "MyISAM", 5 * MIB), table("s.c", data=30 * MIB, free=20 * MIB)]
    found = made(tables, [primary("s.a"), primary("s.b")], {"s.a": 0.9, "s.b": 0.1}, None)
    assert (found.tables, found.tables_by_engine) == (3, {"InnoDB": 2, "MyISAM": 1})
    assert found.bytes_by_engine == {"InnoDB": 31 * MIB, "MyISAM": 5 * MIB}
    assert [each.name for each in found.without_primary_key] == ["s.c"]
    assert [each.name for each in found.other_engines] == ["s.b"]
    assert [each.name for each in found.fragmented] == ["s.c"]
    assert [(each.name, each.auto_increment_used) for each in found.nearly_full_counters] == [("s.a", 0.9)]
    assert found.unused_indexes is None


def test_of_many_tables_the_largest_are_named() -> None:
    tables = [table(f"s.t{number}", data=number) for number in range(LISTED + 5)]
    found = made(tables, [], {}, ())
    assert found.without_primary_key is not None
    assert len(found.without_primary_key) == LISTED
    assert found.without_primary_key[0].name == f"s.t{LISTED + 4}"


def test_without_a_word_on_indexes_no_table_is_said_to_lack_its_key() -> None:
    assert made([table("s.a")], None, {}, None).without_primary_key is None


def test_an_index_that_nobody_read_is_reported_with_its_columns() -> None:
    unused = Index(table="s.a", name="x", columns=("a", "b"))
    assert made([table("s.a")], [primary("s.a")], {}, (unused,)).unused_indexes == (unused,)


@pytest.mark.parametrize(
    ("kind", "following", "used"),
    [
        ("int(11)", 2**31, 1.0),
        ("int unsigned", 2**31, 0.5),
        ("tinyint(3) unsigned zerofill", 256, 1.0),
        ("bigint", 1, 0.0),
        ("smallint", 40_000, 1.0),
        ("float", 100, None),
    ],
)
def test_a_counter_is_compared_with_the_range_of_its_column(
    kind: str, following: int, used: float | None
) -> None:
    assert counter_used(kind, following) == (None if used is None else pytest.approx(used, abs=1e-6))
