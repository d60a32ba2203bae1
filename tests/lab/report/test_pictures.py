"""Which picture an experiment gets, and what is on it: shapes, panels, heat maps, the optimum of a curve."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from lab.report.builders import one_point_run, sql_bench_run, thread_cache_run
from lab.report.crossed import ARRAYS, LOADS, POOLS, arrays_run, file_systems_run
from lab.report.disks import disks_run
from lab.report.releases import releases_run
from mydyno.lab.analysis.metrics import LATENCY_P99
from mydyno.lab.report.charts.curve_axes import LoadAxis, ValueAxis
from mydyno.lab.report.charts.curves import curves_chart, knees
from mydyno.lab.report.charts.heat_map import fill, in_cell
from mydyno.lab.report.effects_tables import optima_frame
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.figures import figures
from mydyno.lab.report.views.comparison import filled, heat_maps
from mydyno.lab.report.views.curves import curves
from mydyno.lab.report.views.overview import MOST_PANELS
from mydyno.lab.report.views.page import MOST_PANELS as MOST_CURVE_PANELS
from mydyno.lab.report.views.page import Page, page, shape
from mydyno.page.charts import theme
from mydyno.page.charts.draw import Chart
from mydyno.page.drawing import Figure

pytestmark = pytest.mark.usefixtures("checked_charts")

LESS = "loses up to 1 s on OS crash"


@cache
def arrays() -> Page:
    return page(gather(arrays_run(repeats=3, durability={"raid5": LESS})))


@cache
def file_systems() -> Page:
    run = file_systems_run(repeats=3, programs=("ATIS", "insert"), versions={"4.1": 1.0, "5.0": 1.04})
    return page(gather(run))


def figure(of: Page, name: str) -> Figure:
    return {found.name: found for found in figures(of)}[name]


def titles(chart: Chart) -> list[str]:
    return [panel["title"]["text"] for panel in chart["concat"]]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda: thread_cache_run(repeats=1), "curves"),
        (lambda: one_point_run(repeats=1), "curves"),
        (lambda: thread_cache_run(repeats=1, levels=range(9), connections=(1, 8)), "bars"),
        (lambda: thread_cache_run(repeats=1, connections=(64,)), "bars"),
        (lambda: disks_run(repeats=1, labels=("readers", "writers")), "bars"),
        (lambda: arrays_run(repeats=1), "panels"),
        (lambda: arrays_run(repeats=1, pools={str(n): 1.0 for n in range(MOST_CURVE_PANELS + 1)}), "bars"),
        (lambda: arrays_run(repeats=1, loads=(30,)), "heat map"),
        (lambda: arrays_run(repeats=1, loads=(30,), pools={"1G": 1.0, "2G": 1.1}), "bars"),
        (lambda: releases_run(repeats=1), "bars"),
        (lambda: sql_bench_run(repeats=1, programs=("ATIS",)), "programs"),
        (lambda: file_systems_run(repeats=1, programs=("ATIS",)), "heat map"),
    ],
)
def test_the_shape_of_the_factors_chooses_the_picture(run, expected):
    assert shape(gather(run())) == expected


def test_a_run_of_which_nothing_is_measured_yet_has_a_shape_and_no_picture():
    run = replace(thread_cache_run(repeats=1), records=())
    assert figures(page(gather(run))) == ()


def test_crossed_factors_are_a_panel_for_each_level_of_the_second_and_a_line_for_each_of_the_first():
    panels = arrays().throughput_panels
    assert [panel.title for panel in panels] == list(POOLS)
    assert {panel.subtitle for panel in panels} == {"innodb_buffer_pool_size"}
    for panel in panels:
        assert [curve.name for curve in panel.curves.curves] == ["raid1", "raid1-split", "raid5 †", "raid10"]
        assert [curve.setting.slot for curve in panel.curves.curves] == [0, 1, 2, 3]
        assert panel.curves.connections == LOADS


def test_all_panels_share_their_axes_and_only_the_outer_ones_are_named():
    chart = curves_chart(arrays().throughput_panels, theme.WIDE)
    assert titles(chart) == list(POOLS)
    encodings = [layer["encoding"] for panel in chart["concat"] for layer in panel["layer"]]
    domains = {str(each["y"]["scale"]["domain"]) for each in encodings if "scale" in each["y"]}
    assert len(domains) == 1
    named = [panel["layer"][0]["encoding"]["y"]["axis"]["labels"] for panel in chart["concat"]]
    assert named == [True, False, False]
    stacked = curves_chart(arrays().throughput_panels, theme.NARROW)
    assert stacked["columns"] == 1


def test_latency_has_a_column_for_each_percentile():
    chart = figure(arrays(), "latency").draw(theme.WIDE)
    assert chart["columns"] == 2
    assert titles(chart) == [name for name in POOLS for _ in range(2)]


def test_less_durable_settings_are_dashed_and_signed_and_the_caption_says_what_the_sign_is():
    found = figure(arrays(), "throughput")
    assert f"† {LESS}" in found.caption
    chart = found.draw(theme.WIDE)
    lines = [layer["mark"] for layer in chart["concat"][0]["layer"] if layer["mark"]["type"] == "line"]
    assert [1, 0] in [line.get("strokeDash") for line in lines]
    assert [7, 3] in [line.get("strokeDash") for line in lines]
    alike = page(gather(arrays_run(repeats=1)))
    assert "†" not in figure(alike, "throughput").caption


def test_each_curve_has_its_law_and_the_optimum_is_drawn_with_its_interval():
    panel = arrays().throughput_panels[-1]
    found = {curve.setting.levels[0]: law for curve, law in knees(panel.curves)}
    assert set(found) == set(ARRAYS)
    for array, law in found.items():
        assert law.optimum == pytest.approx(24 + 14 * ARRAYS[array], rel=0.15)
    chart = curves_chart([panel], theme.WIDE)
    drawn = [row for rows in chart["datasets"].values() for row in rows if "optimum" in row.get("text", "")]
    assert len(drawn) == len(ARRAYS)
    assert all(row["low"] <= row["connections"] <= row["high"] for row in drawn)


def test_many_settings_have_their_optimum_in_a_table_and_few_in_a_sentence_each():
    assert arrays().optima.sentences == ()
    assert "Where the optimum is" in [title for title, _ in figure(arrays(), "throughput").tables]
    two = {"raid1": 1.0, "raid10": 1.7}
    few = page(gather(arrays_run(repeats=3, arrays=two, pools={"100% of data": 1.0}))).optima.sentences
    assert len(few) == 2
    assert few[0].startswith("array = raid1, innodb_buffer_pool_size = 100% of data: optimum at 3")
    assert "connections (95% CI " in few[0]
    assert "where the fitted law has " in few[0]


def test_with_fewer_than_four_loads_it_is_said_once_that_no_law_is_fitted():
    found = page(gather(thread_cache_run(repeats=3, connections=(10, 100, 400)))).optima
    assert found.sentences == ("No optimum is fitted: at least 4 loads are needed, and 3 were measured.",)
    assert page(gather(thread_cache_run(repeats=1, connections=(10,)))).optima.sentences == ()


def test_a_law_that_does_not_fit_gives_way_to_the_best_measured():
    small, _ = page(gather(thread_cache_run(invalid=()))).optima.sentences
    assert "the scalability law does not fit (p " in small
    assert "the best measured is 50 connections" in small


def test_one_point_is_shown_where_its_optimum_is():
    run = arrays_run(repeats=3, arrays={"raid10": 1.7}, pools={"1G": 1.0})
    alone = replace(run, experiment=replace(run.experiment, factors={}))
    (sentence,) = page(gather(alone)).optima.sentences
    assert sentence.startswith("Optimum at ")


def test_two_factors_with_many_levels_and_one_load_are_cells():
    whole = page(gather(arrays_run(repeats=3, loads=(30,))))
    assert [row.levels for row in whole.heat_maps[0].rows] == [(pool,) for pool in POOLS]
    assert [found.name for found in figures(whole)][:1] == ["heat-map"]
    row = whole.heat_maps[0].rows[-1]
    lines = [in_cell(row, cell) for cell in row.cells]
    assert lines[0] == "–", "the first column is what the others are held against"
    assert lines[-1].startswith("1.")
    assert "latency" in [found.name for found in figures(whole)]


def test_a_cell_has_a_colour_only_where_the_trials_show_a_difference():
    row = file_systems().heat_maps[0].rows[0]
    by_level = dict(zip(("ext3", "ext4", "xfs", "jfs", "reiserfs", "btrfs"), row.cells, strict=True))
    assert fill(row, by_level["jfs"]) in theme.FASTER
    assert fill(row, by_level["btrfs"]) in theme.SLOWER
    assert fill(row, by_level["reiserfs"]) == theme.BAND
    result = in_cell(row, by_level["reiserfs"])
    assert result.startswith("≈ ") or result.endswith(" ?")
    assert (fill(row, None), in_cell(row, None)) == (theme.BAND, "–")


def test_each_program_has_a_small_map_of_its_own():
    maps = file_systems().heat_maps
    assert [each.name for each in maps] == ["", "ATIS", "insert"]
    assert all(row.place == each.name for each in maps[1:] for row in each.rows)
    drawn = figure(file_systems(), "heat-maps").draw(theme.WIDE)
    texts = {row["text"] for rows in drawn["datasets"].values() for row in rows if "text" in row}
    assert {"ATIS", "insert", "release", "4.1", "5.0", "ext3", "btrfs"} <= texts
    assert "programs" not in [found.name for found in figures(file_systems())], "the cells say the same"


def test_latency_is_a_geometric_mean_whose_interval_stays_above_zero():
    run = thread_cache_run(repeats=3, connections=(10,), levels=(8,), invalid=())

    def slowed(place: int) -> float:
        return (1.0, 1.1, 40.0)[place]

    records = tuple(
        replace(
            each,
            phases=tuple(
                replace(one, latency=replace(one.latency, p99_ns=int(1e6 * slowed(place))))
                for one in each.phases
            ),
        )
        for place, each in enumerate(run.records)
    )
    ((point,),) = (
        curve.points for curve in curves(gather(replace(run, records=records)), LATENCY_P99).curves
    )
    assert point.value == pytest.approx(1e6 * (1.0 * 1.1 * 40) ** (1 / 3), rel=1e-3)
    assert point.low is not None
    assert point.high is not None
    assert point.low > 0
    assert point.value / point.low == pytest.approx(point.high / point.value)


def test_a_control_is_no_setting_and_stands_among_the_trials():
    run = thread_cache_run(repeats=3, connections=(10, 50, 100, 400), levels=(8, 450, 8), invalid=())
    first, second, third = run.experiment.points
    control = replace(third, title="thread_cache_size = 8 (control)", control_of=first.point_id)
    found = page(gather(replace(run, experiment=replace(run.experiment, points=(first, second, control)))))
    assert [curve.name for curve in found.throughput.curves] == [first.title, second.title]
    assert [row.setting.point_id for row in found.optima.rows] == [first.point_id, second.point_id]
    assert len(found.overview.panels) == 2
    assert control.title in {row.setting.title for row in found.trials.rows}


def test_the_run_over_time_shows_eight_settings_and_says_that_there_are_more():
    found = arrays()
    assert len(found.overview.panels) == MOST_PANELS
    assert "8 of 12 settings are shown." in figure(found, "overview").caption


def test_marks_of_several_settings_at_one_load_stand_beside_each_other():
    views = [arrays().throughput]
    axis = LoadAxis(views, width=600)
    places = [axis.dodged(10, place, 4) for place in range(4)]
    assert places == sorted(places)
    assert axis.dodged(10, 0, 1) == 10
    assert [axis.share(load) for load in axis.domain] == [0, 1]
    up = ValueAxis(views, height=300)
    assert up.at_pixel(up.pixel(4000)) == pytest.approx(4000)


def test_optima_are_numbers_for_a_spreadsheet():
    frame = optima_frame(arrays().optima)
    assert frame.height == len(ARRAYS) * len(POOLS)
    first = frame.row(0, named=True)
    assert first["outcome"] == "optimum"
    assert first["optimum_low"] < first["optimum"] < first["optimum_high"]
    assert first["peak_low"] < first["peak"] < first["peak_high"]
    assert first["best_measured"] == 30
    unfitted = optima_frame(page(gather(thread_cache_run(repeats=1, connections=(10, 100)))).optima)
    assert unfitted["optimum"].to_list() == [None, None]
    assert unfitted["best_measured"].to_list() == [100, 100]


def test_rows_in_which_nothing_can_be_compared_are_in_no_map():
    run = arrays_run(repeats=3, loads=(30,))
    alone = {"raid10", "40% of data"}
    points = tuple(
        point
        for point in run.experiment.points
        if "40% of data" not in point.levels.values() or set(point.levels.values()) == alone
    )
    kept = {point.point_id for point in points}
    records = tuple(each for each in run.records if each.point_id in kept)
    found = page(gather(replace(run, experiment=replace(run.experiment, points=points), records=records)))
    assert [row.levels for row in found.heat_maps[0].rows] == [("80% of data",), ("100% of data",)]


def test_a_column_in_which_a_heat_map_has_no_cell_is_left_out() -> None:
    shown = file_systems().comparison
    bare = replace(
        shown,
        columns=(*shown.columns, replace(shown.columns[0], level="–")),
        rows=tuple(replace(row, cells=(*row.cells, None)) for row in shown.rows),
    )
    view, maps = filled(bare, heat_maps(bare))
    assert view.columns == shown.columns
    assert maps == heat_maps(shown)
