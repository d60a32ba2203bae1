"""What each factor explains, as a run's report has it: sentence, table, figure, file."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from lab.analysis.splits import half_fraction, run_of
from lab.report.builders import ENVIRONMENT, MemoryRun
from lab.report.reading import Element, parse, png_values
from mydyno.lab.report.build import build
from mydyno.lab.report.charts.effects import effects_chart, share_rows
from mydyno.lab.report.effects_tables import effects_caption, effects_table
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.figures import EFFECTS, figures
from mydyno.lab.report.html import html
from mydyno.lab.report.text import markdown, terminal
from mydyno.lab.report.views.effects import EffectsView
from mydyno.lab.report.views.page import Page, page
from mydyno.lab.results.records import DesignRecord
from mydyno.page.charts import draw, theme
from mydyno.page.drawing import drawings

pytestmark = pytest.mark.usefixtures("checked_charts")

POOL, ARRAY = "server.config.innodb_buffer_pool_size", "array"
FACTORS = {ARRAY: ("raid1", "raid10"), POOL: ("40%", "80%", "100%")}


def speed(levels, connections: int) -> float:
    """Memory counts most, and what does not fit into it is faster on more disks."""
    pool = {"40%": 0.5, "80%": 1.0, "100%": 2.0}[levels[POOL]]
    disks = 1.6 if levels[ARRAY] == "raid10" else 1.0
    return pool * disks ** (0.3 if levels[POOL] == "100%" else 1.0) * connections**0.2


@cache
def crossed_run() -> MemoryRun:
    record, trials = run_of(
        FACTORS,
        speed,
        blocks=4,
        connections=(1, 10, 30),
        design=DesignRecord(hard_factors=((ARRAY,),)),
    )
    return MemoryRun(record, tuple(trials), ENVIRONMENT)


@cache
def crossed() -> Page:
    return page(gather(crossed_run()))


@cache
def tree() -> Element:
    return parse(html(crossed(), drawings(figures(crossed()))()))


@cache
def single() -> Page:
    record, trials = run_of({POOL: ("40%", "80%")}, lambda levels, _: 2.0 if levels[POOL] == "80%" else 1.0)
    return page(gather(MemoryRun(record, tuple(trials), ENVIRONMENT)))


def test_the_sentence_stands_in_every_form_of_the_report_and_a_terminal_ends_with_the_headline():
    sentence = crossed().effects.sentence
    assert sentence.startswith("innodb_buffer_pool_size explains ")
    drawn = figures(crossed())
    output = terminal(crossed(), 2000)
    assert sentence in output
    assert output.rstrip().endswith(crossed().verdicts.headline)
    assert sentence.replace("_", "") in markdown(crossed(), drawn).replace("\\", "").replace("_", "")
    section = " ".join(tree().by_id(EFFECTS).text.split())
    assert sentence in section.replace("\N{NO-BREAK SPACE}", " ")


def test_the_table_has_shares_intervals_p_and_levels_and_sums_to_a_whole():
    table = effects_table(crossed().effects)
    assert table.columns == ("effect", "share of the variance", "p", "levels, times the average")
    by_name = {row[0]: row for row in table.rows}
    assert list(by_name)[:1] == ["innodb_buffer_pool_size"]
    assert set(by_name) >= {"array", "connections", "array × innodb_buffer_pool_size", "noise"}
    assert by_name["innodb_buffer_pool_size"][2] == "< 0.001"
    assert by_name["innodb_buffer_pool_size"][3].startswith("40%: 0.")
    of = crossed().effects.of
    assert sum(effect.share for effect in of.found) + of.noise == pytest.approx(1)


def test_the_caption_says_what_was_counted_and_how_it_was_tested():
    caption = effects_caption(crossed().effects)
    assert "over 24 valid trials, each at 3 numbers of connections" in caption
    assert "split plot" in caption
    assert "Holm" in caption


def test_bars_are_the_shares_with_what_is_not_distinguished_from_noise_pale():
    rows = share_rows(crossed().effects)
    of = crossed().effects.of
    assert [row["share"] for row in rows] == pytest.approx(
        [*(100 * effect.share for effect in of.found), 100 * of.noise]
    )
    assert all(row["low"] <= row["share"] <= row["high"] for row in rows)
    pale = {row["name"] for row in rows if row["opacity"] < 1}
    shown = {row["name"] for row in rows if row["opacity"] == 1}
    assert "array × innodb_buffer_pool_size" in shown
    assert "noise" in pale
    assert rows[-1]["color"] == theme.MUTED


def test_of_many_effects_the_smallest_share_a_bar():
    view = crossed().effects
    effect = view.of.found[-1]
    many = replace(view, of=replace(view.of, found=(*view.of.found, *[effect] * 20)))
    assert "other effects" in share_rows(many)[-2]["name"]
    assert len(share_rows(many)) == 12


def test_lines_of_the_largest_interaction_are_means_with_intervals():
    of = crossed().effects.of.interaction
    assert (of.lines, of.across) == (ARRAY, POOL)
    cells = {(cell.level, cell.at): cell for cell in of.cells}
    assert len(cells) == 6
    typical = 1000 * 300 ** (0.2 / 3)
    for (array, pool), cell in cells.items():
        true = typical * speed({ARRAY: array, POOL: pool}, 1)
        assert cell.value == pytest.approx(true, rel=0.03)
        assert cell.interval.low < cell.value < cell.interval.high
        assert cell.n == 4


@pytest.mark.parametrize("size", [theme.WIDE, theme.NARROW])
def test_the_figure_names_effects_and_lines_and_fits(size: theme.Size):
    svg = draw.svg(effects_chart(crossed().effects, size))
    root = ElementTree.fromstring(svg)
    assert float(root.attrib["width"]) <= size.width * 1.03
    words = {"".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"noise", "array", "raid1", "raid10", "40%", "share of the variance, %"} <= words
    assert "NaN" not in svg


def test_the_section_stands_below_the_pictures():
    sections = [section.attributes["id"] for section in tree().all("section")]
    assert sections.index("latency") < sections.index(EFFECTS) < sections.index("validity")
    assert [each.attributes["href"] for each in tree().all("a")].count(f"#{EFFECTS}") == 1


def test_a_single_effect_is_reported_and_needs_no_figure():
    assert single().effects.sentence.startswith("innodb_buffer_pool_size explains ")
    assert EFFECTS not in {figure.name for figure in figures(single())}


def test_the_file_has_a_row_for_each_effect_the_noise_and_each_level(tmp_path: Path):
    files = build(crossed_run(), tmp_path)
    frame = pl.read_csv(files.paths["effects.csv"])
    kinds = frame["kind"].to_list()
    assert kinds.count("factor") == 3
    assert kinds.count("noise") == 1
    assert kinds.count("level") == 2 + 3 + 3
    assert frame["share"].sum() == pytest.approx(1)
    pool = frame.row(by_predicate=(pl.col("kind") == "factor") & (pl.col("factors") == POOL), named=True)
    assert pool["share_low"] < pool["share"] < pool["share_high"]
    assert (pool["degrees_of_freedom"], pool["p_adjusted"] < 0.001) == (2, True)
    array = frame.row(by_predicate=(pl.col("kind") == "factor") & (pl.col("factors") == ARRAY), named=True)
    assert array["error_degrees_of_freedom"] == pytest.approx(3), "blocks less one: the array is a whole plot"
    level = frame.row(by_predicate=(pl.col("level") == "raid10"), named=True)
    assert 1 < level["ratio_low"] < level["ratio"] < level["ratio_high"]
    assert png_values((tmp_path / "effects.png").read_bytes()) > 20


def test_a_run_whose_points_are_a_fraction_is_reported_as_the_factors_that_matter():
    factors = dict.fromkeys("abcd", ("0", "1"))
    design = DesignRecord(points="fraction", aliases=("a×b = c×d",), resolution=4)
    record, trials = run_of(
        factors, lambda levels, _: 1.5 if levels["a"] == "1" else 1.0, points=half_fraction(), design=design
    )
    found = page(gather(MemoryRun(record, tuple(trials), ENVIRONMENT)))
    assert found.verdicts.headline.startswith("1 of 4 factors affects queries per second: a (1 over 0: +")
    assert found.verdicts.sentences == ()
    assert "a×b = c×d" in terminal(found)


def test_each_change_of_one_at_a_time_is_compared_with_the_baseline():
    base = {"a": "0", "b": "0"}
    points = [base, base | {"a": "1"}, base | {"b": "1"}]
    record, trials = run_of(
        {"a": ("0", "1"), "b": ("0", "1")},
        lambda levels, _: 1.5 if levels["a"] == "1" else 1.0,
        points=points,
        blocks=4,
        design=DesignRecord(points="one-at-a-time"),
    )
    found = page(gather(MemoryRun(record, tuple(trials), ENVIRONMENT)))
    assert len(found.verdicts.sentences) == 2
    assert found.effects.sentence.startswith("a explains ")
    assert "levels, times baseline" in effects_table(found.effects).columns
    assert "their interactions were not measured" in terminal(found, 2000)


def test_hostile_levels_are_text(tmp_path: Path):
    evil = "</script><script>alert(1)</script>"
    record, trials = run_of(
        {"a": ("x", evil), "b": ("y", "z")},
        lambda levels, _: 1.5 if levels["a"] == "x" and levels["b"] == "y" else 1.0,
    )
    found = page(gather(MemoryRun(record, tuple(trials), ENVIRONMENT)))
    text = html(found, drawings(figures(found))())
    assert "<script>alert(1)" not in text
    assert found.effects.of.interaction is not None


def test_nothing_is_said_of_nothing():
    run = crossed_run()
    empty: EffectsView = page(gather(replace(run, records=()))).effects
    assert empty.empty
    assert empty.remarks == ()
    assert effects_table(empty).rows == ()
