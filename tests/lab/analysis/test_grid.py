"""The table of comparisons: which point stands where, and what is held against what."""

from __future__ import annotations

from mydyno.lab.analysis.grid import NO_LEVEL, SETTING, Grid, grid
from mydyno.lab.results.records import PointRecord


def points(*levels: dict[str, str]) -> list[PointRecord]:
    return [
        PointRecord(point_id=f"p{number}", levels=each, title=" · ".join(each.values()))
        for number, each in enumerate(levels, 1)
    ]


def shown(table: Grid) -> list[tuple[tuple[str, ...], list[str | None]]]:
    return [(row.levels, [point and point.point_id for point in row.points]) for row in table.rows]


ARRAYS = {"array": ("raid1", "raid5", "raid10"), "chunk": ("64K", "512K")}
NESTED = points(
    {"array": "raid1"},
    {"array": "raid5", "chunk": "64K"},
    {"array": "raid5", "chunk": "512K"},
    {"array": "raid10", "chunk": "64K"},
    {"array": "raid10", "chunk": "512K"},
)


def test_an_array_without_chunks_stands_beside_every_chunk_of_the_others() -> None:
    table = grid(ARRAYS, NESTED)
    assert table is not None
    assert shown(table) == [(("64K",), ["p1", "p2", "p4"]), (("512K",), ["p1", "p3", "p5"])]
    pairs = [(point.point_id, first.point_id) for row in table.rows for _, point, first in row.comparisons()]
    assert pairs == [("p2", "p1"), ("p4", "p1"), ("p3", "p1"), ("p5", "p1")]


def test_with_the_nested_factor_across_a_point_without_it_has_a_column_of_its_own() -> None:
    table = grid(ARRAYS, NESTED, "chunk")
    assert table is not None
    assert table.columns == ("64K", "512K", NO_LEVEL)
    assert shown(table) == [
        (("raid1",), [None, None, "p1"]),
        (("raid5",), ["p2", "p3", None]),
        (("raid10",), ["p4", "p5", None]),
    ]


def test_nested_within_a_row_a_point_without_the_factor_keeps_a_row_with_a_dash() -> None:
    factors = {"pool": ("1G", "2G"), **ARRAYS}
    table = grid(
        factors,
        points(
            {"pool": "1G", "array": "raid1"},
            {"pool": "2G", "array": "raid1"},
            {"pool": "1G", "array": "raid5", "chunk": "64K"},
            {"pool": "2G", "array": "raid5", "chunk": "64K"},
        ),
    )
    assert table is not None
    assert shown(table) == [(("raid1", NO_LEVEL), ["p1", "p2"]), (("raid5", "64K"), ["p3", "p4"])]


def test_excluded_points_leave_empty_places_and_nothing_takes_them() -> None:
    factors = {"pool": ("1G", "2G"), "log": ("small", "large")}
    left = points(
        {"pool": "1G", "log": "small"}, {"pool": "1G", "log": "large"}, {"pool": "2G", "log": "large"}
    )
    table = grid(factors, left)
    assert table is not None
    assert shown(table) == [(("small",), ["p1", None]), (("large",), ["p2", "p3"])]


def test_a_control_is_never_in_the_table() -> None:
    [one, other] = points({"pool": "1G"}, {"pool": "2G"})
    again = PointRecord(point_id="p1-control", levels=one.levels, title="1G again", control_of="p1")
    table = grid({"pool": ("1G", "2G")}, [one, other, again])
    assert table is not None
    assert shown(table) == [((), ["p1", "p2"])]
    assert grid({"pool": ("1G",)}, [one, again]) is None


def test_a_design_that_takes_some_combinations_holds_each_against_the_first() -> None:
    factors = {"server.config.pool": ("1G", "2G"), "log": ("small", "large")}
    taken = points(
        {"server.config.pool": "1G", "log": "small"},
        {"server.config.pool": "2G", "log": "small"},
        {"server.config.pool": "2G", "log": "large"},
    )
    table = grid(factors, taken, design="fraction")
    assert table is not None
    assert (table.factor, table.columns) == (SETTING, ("1G · small", "pool = 2G", "2G · large"))
    assert shown(table) == [((), ["p1", "p2", "p3"])]
    asked = grid(factors, taken, "log", design="fraction")
    assert asked is not None
    assert shown(asked) == [(("1G",), ["p1", None]), (("2G",), ["p2", "p3"])]


def test_a_factor_of_which_one_level_is_left_is_not_across() -> None:
    table = grid(
        {"array": ("raid5",), "pool": ("1G", "2G")},
        points({"array": "raid5", "pool": "1G"}, {"array": "raid5", "pool": "2G"}),
    )
    assert table is not None
    assert (table.factor, table.columns) == ("pool", ("1G", "2G"))
