"""Charts as pictures: whole, legible at their width, and the same colour for the same setting."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest

from lab.report.builders import MemoryRun, one_point_run, thread_cache_run
from lab.report.reading import png_size, png_values
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.figures import figures
from mydyno.lab.report.views.page import page
from mydyno.page.charts import draw, theme, vega
from mydyno.page.charts.inline import inline_svg
from mydyno.page.charts.labels import spread
from mydyno.page.charts.marks import one_two_five
from mydyno.page.drawing import Figure, balanced, drawings

pytestmark = pytest.mark.usefixtures("checked_charts")

SVG = "{http://www.w3.org/2000/svg}"


def drawn_figures(run: MemoryRun) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures(page(gather(run)))}


@cache
def drawn_svgs(kind: str, size: theme.Size) -> dict[str, str]:
    return {name: draw.svg(figure.draw(size)) for name, figure in drawn_figures(RUNS[kind]()).items()}


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


RUNS: dict[str, Callable[[], MemoryRun]] = {
    "two settings": lambda: thread_cache_run(repeats=3, connections=(10, 100)),
    "one point": lambda: one_point_run(connections=(10, 100)),
    "nine settings": lambda: thread_cache_run(
        repeats=3, connections=(10, 100), levels=(0, 8, 16, 32, 64, 100, 200, 256, 450)
    ),
    "one repetition": lambda: thread_cache_run(repeats=1, connections=(10, 100), invalid=()),
    "one number of connections": lambda: thread_cache_run(repeats=3, connections=(64,), invalid=()),
    "from 1 to 1000 connections": lambda: thread_cache_run(
        repeats=3, connections=(1, 8, 128, 1000), invalid=()
    ),
}


@pytest.mark.parametrize("kind", RUNS)
def test_every_figure_is_drawn_no_wider_than_asked_with_units_on_its_axes(kind):
    for size in (theme.WIDE, theme.NARROW):
        for name, svg in drawn_svgs(kind, size).items():
            width = float(ElementTree.fromstring(svg).attrib["width"])
            assert width <= size.width * 1.03, (name, size)
            lines = texts(svg)
            assert "NaN" not in svg
            expected = {
                "overview": "elapsed, s",
                "throughput": "queries/s",
                "ratio": "overall",
                "effects": "share of the variance, %",
            }
            assert expected.get(name, "ms") in " ".join(lines), (name, size)


def test_text_is_never_smaller_on_a_narrow_page():
    sizes = {
        float(px)
        for size in (theme.WIDE, theme.NARROW)
        for svg in drawn_svgs("two settings", size).values()
        for px in re.findall(r'font-size="([\d.]+)px"', svg)
    }
    assert min(sizes) >= 11


def test_a_setting_has_one_colour_in_every_figure():
    for name, svg in drawn_svgs("two settings", theme.WIDE).items():
        if name == "effects":
            continue  # of factors, not of settings
        assert theme.color(1) in svg, name
        assert theme.color(2) not in svg, name


def test_every_colour_of_a_figure_has_its_dark_counterpart():
    used = {
        color
        for svg in drawn_svgs("nine settings", theme.NARROW).values()
        for color in re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', svg)
    }
    assert used <= theme.DARK.keys()
    assert set(theme.SERIES) <= used


def test_settings_past_the_last_colour_differ_in_their_marker():
    looks = {(theme.color(slot), theme.shape(slot)) for slot in range(24)}
    assert len(looks) == 24


def test_the_overview_names_the_counters_and_both_settings():
    lines = texts(
        draw.svg(drawn_figures(thread_cache_run(connections=(10, 400)))["overview"].draw(theme.WIDE))
    )
    for name in (
        "thread_cache_size = 8",
        "thread_cache_size = 450",
        "Threads_created",
        "Max_used_connections",
    ):
        assert name in lines
    assert {"10", "100"} <= set(lines), "the phases carry their number of connections"


def test_an_invalid_setting_is_marked_as_such_on_the_overview():
    run = thread_cache_run(repeats=1, connections=(10,), invalid=(0,))
    svg = draw.svg(drawn_figures(run)["overview"].draw(theme.WIDE))
    assert any("INVALID" in text for text in texts(svg))
    assert theme.INVALID in svg


def test_the_picture_that_stands_alone_carries_the_verdict_and_is_not_blank():
    figure = drawn_figures(thread_cache_run(repeats=3, connections=(10, 100), invalid=()))["overview"]
    svg = drawings([figure])()[0].picture()
    words = " ".join(texts(svg)).replace("\N{NO-BREAK SPACE}", " ")
    assert "thread_cache_size = 450" in words
    assert "Does a larger thread cache buy throughput" in words
    content = vega.png(svg)
    assert 1500 < png_size(content)[0] < 1700
    assert png_values(content) > 50
    assert png_values(vega.png('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')) < 5


def test_hostile_names_are_data_and_not_markup():
    run = thread_cache_run(repeats=3, connections=(10, 100), invalid=())
    evil = '</text><script>alert("1")</script> & datum["x"]'
    points = tuple(replace(point, title=f"{point.title} {evil}") for point in run.experiment.points)
    run = replace(run, experiment=replace(run.experiment, points=points))
    for figure in drawn_figures(run).values():
        root = ElementTree.fromstring(draw.svg(figure.draw(theme.WIDE)))
        assert not list(root.iter(f"{SVG}script")), figure.name


def test_an_inline_picture_has_ids_of_its_own_tooltips_and_no_fixed_size():
    svg = drawn_svgs("two settings", theme.WIDE)["throughput"]
    made = inline_svg(svg, name="a", css_class="picture")
    root = ElementTree.fromstring(made)
    assert root.get("aria-hidden") == "true", "its box has the label"
    assert "height" not in root.attrib
    assert all(element.attrib.get("id", "a-").startswith("a-") for element in root.iter())
    hovers = [element.text or "" for element in root.iter(f"{SVG}title")]
    assert len(hovers) == 4
    assert all(re.search(r"thread_cache_size = \d+, \d+ connections: .* n=[23]$", hover) for hover in hovers)


def test_references_inside_a_picture_follow_their_ids():
    drawn = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><clipPath id="c0"/>'
        '<g clip-path="url(#c0)" display="none"/><g clip-path="url(#c0)"/></svg>'
    )
    made = inline_svg(drawn, name="x", css_class="")
    assert 'id="x-c0"' in made
    assert made.count("url(#x-c0)") == 1


def test_labels_keep_their_order_and_distance_and_stay_inside():
    assert spread([50, 51, 52], 15, 0, 100) == [50, 65, 80]
    assert spread([95, 96], 15, 0, 100) == [85, 100]
    assert spread([30, 10], 15, 0, 100) == [30, 10]
    assert spread([], 15, 0, 100) == []


def test_ticks_of_a_logarithmic_axis_are_one_two_five():
    assert one_two_five(0.4, 30) == [0.5, 1, 2, 5, 10, 20]
    assert one_two_five(0.9, 20_000) == [1, 10, 100, 1000, 10000]


def test_a_title_is_broken_into_lines_of_about_one_length():
    assert balanced("one two three four five six", 20) == ["one two three", "four five six"]
    assert balanced("short", 20) == ["short"]
    assert balanced("", 20) == []
