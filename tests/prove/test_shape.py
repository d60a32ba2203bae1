from __future__ import annotations

import pytest

from mydyno.core.errors import UsageError
from mydyno.lab.workload import read
from mydyno.prove.shape import Shape, scaled_value, shape_of
from prove.builders import GIB, HERE

OLTP = read("oltp-read-write")


def shape(real: int | None, wanted: int | None = None, largest: int | None = None, **options: int) -> Shape:
    return shape_of(OLTP, options, wanted, real, largest, HERE)


def test_the_tables_are_as_large_as_those_of_the_server_where_this_host_holds_them() -> None:
    found = shape(2 * GIB, tables=4)
    assert found.scale == 1.0 or found.scale > 0.99
    assert 1.98 * GIB < found.data_bytes < 2.02 * GIB
    assert found.options["tables"] == 4


def test_where_the_host_is_smaller_the_data_shrinks_and_the_pool_with_it() -> None:
    found = shape(100 * GIB, largest=40 * GIB)
    assert found.scale == pytest.approx(0.1, rel=0.02)  # Half of 8G for a pool of 40G.
    assert scaled_value("innodb_buffer_pool_size", "40G", found.scale).endswith("M")
    assert scaled_value("innodb_redo_log_capacity", "8G", found.scale) == "8G"
    assert any("0.1" in note for note in found.notes)


def test_the_free_disk_bounds_the_data_too() -> None:
    assert shape(1000 * GIB).data_bytes < 16 * GIB


def test_configured_rows_win_over_the_servers_data() -> None:
    found = shape(10 * GIB, table_size=1000)
    assert found.options == {"table_size": 1000}
    assert found.scale < 0.001


def test_a_configured_size_of_the_data_is_met() -> None:
    assert shape(None, wanted=GIB).data_bytes == pytest.approx(GIB, rel=0.02)


def test_a_size_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="both set the size"):
        shape(None, wanted=GIB, table_size=1000)


def test_a_server_without_tables_leaves_the_workload_its_own_size() -> None:
    assert shape(0, tables=2).options == shape(None, tables=2).options == {"tables": 2}


def test_without_facts_the_workload_has_its_own_size() -> None:
    found = shape(None)
    assert found.options == {}
    assert "unknown" in found.notes[0]
