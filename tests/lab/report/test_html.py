"""The page: whole, self-contained, escaped, and saying what it must."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from lab.report.builders import SPEC_TEXT, MemoryRun, one_point_run, thread_cache_run
from lab.report.reading import Element, parse
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.figures import figures
from mydyno.lab.report.html import html
from mydyno.lab.report.views.page import page
from mydyno.page.drawing import drawings

FETCHING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "ping", "manifest"}


def written(run: MemoryRun) -> str:
    view = page(gather(run))
    return html(view, drawings(figures(view))())


@pytest.fixture(scope="module")
def text() -> str:
    view = page(gather(thread_cache_run()))
    return html(view, drawings(figures(view))())


@pytest.fixture(scope="module")
def tree(text: str) -> Element:
    return parse(text)


def test_the_page_fetches_nothing(text, tree):
    for element in tree.all():
        assert element.tag not in ("link", "iframe", "img", "object", "embed", "base", "image")
        assert not FETCHING & element.attributes.keys(), element
        for name in ("href", "xlink:href"):
            assert element.attributes.get(name, "#").startswith("#"), element
    style = "".join(element.text for element in tree.all("style"))
    assert "@import" not in style
    assert "url(" not in style
    markup = text.partition("<script")[0]
    assert all(found.startswith("#") for found in re.findall(r"url\(([^)]*)\)", markup))


def test_the_page_stays_small_enough_to_mail(text):
    assert len(text.encode()) < 1_500_000


def test_the_verdict_comes_first_with_the_question_and_its_source(tree):
    (headline,) = tree.all("h1")
    assert headline.words.startswith(
        "For this load, thread_cache_size = 450 is faster than thread_cache_size = 8 by"
    )
    header = tree.by_id("verdict").words
    assert "Does a larger thread cache buy throughput when connections come and go?" in header
    assert "Source: a 2014 Korean blog post on max_connections and thread_cache_size" in header
    assert "7 valid trials of 8" in header


def test_every_section_is_there_and_every_inner_link_leads_somewhere(tree):
    sections = [section.attributes["id"] for section in tree.all("section")]
    assert sections == [
        "ratio",
        "comparison",
        "overview",
        "throughput",
        "latency",
        "connect",
        "effects",
        "validity",
        "settings",
        "environment",
        "method",
        "reproduce",
    ]
    ids = {element.attributes["id"] for element in tree.all() if "id" in element.attributes}
    assert {link.attributes["href"][1:] for link in tree.all("a")} <= ids


def test_no_id_is_used_twice(tree):
    ids = [element.attributes["id"] for element in tree.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))


def test_each_figure_is_there_as_a_picture_and_as_a_chart_to_draw_that_says_what_it_shows(text, tree):
    for figure in tree.all("figure"):
        (box,) = figure.all("div", "chart")
        (scrolling,) = box.all("div", "still")
        assert (scrolling.attributes["role"], scrolling.attributes["tabindex"]) == ("group", "0")
        assert len(scrolling.attributes["aria-label"]) > 40
        (still,) = box.all("svg")
        assert still.attributes["class"] == "picture"
        width = float(still.attributes["viewbox"].split()[2])
        assert 700 < width < 824, "about the width that it was drawn for"
        chart = json.loads(tree.by_id(f"chart-{box.attributes['data-chart']}").text)
        assert [(chart[size]["width"], "concat" in chart[size]["spec"]) for size in ("wide", "narrow")] == [
            (width, True),
            (346, True),
        ]
    style = tree.all("style")[0].text
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text


def test_key_numbers_carry_their_n(tree):
    rows = {row.all("th")[0].words: row.words for row in tree.by_id("verdict").all("tr", "key")}
    assert "1,404 n=4 400 n=3" in rows["Threads_created over a whole trial"]
    assert "n=4" in rows["Queries/s at 400 connections"]


def test_the_invalid_trial_is_marked_in_its_row_and_explained(tree):
    (row,) = tree.all("tr", "invalid")
    assert [cell.words for cell in row.all("td")][:3] == ["5", "t005", "3"]
    assert row.words.endswith("INVALID")
    (listed,) = (each for each in tree.all("ul", "invalid-trials")[0].children if isinstance(each, Element))
    assert "connections-reached at 400 connections: 371 of 400 connections were opened" in listed.words
    assert "1 invalid of 8 trials" in tree.by_id("verdict").words


def test_every_trial_is_in_the_table_in_the_order_in_which_it_ran(tree):
    table = tree.by_id("validity").all("table")[0]
    rows = [[cell.words for cell in row.all("td")] for row in table.all("tr")[1:]]
    assert [row[0] for row in rows] == [str(order) for order in range(1, 9)]
    heads = [cell.words for cell in table.all("th")]
    assert heads[7:9] == ["Threads_created", "Max_used_connections"]


def test_settings_are_as_configured_and_in_force_and_durability_is_labelled(tree):
    rows = {row.all("th")[0].words: row for row in tree.by_id("settings").all("tr") if row.all("td")}
    assert rows["thread_cache_size"].attributes["class"] == "differs"
    assert "268435456 configured 256M" in rows["innodb_buffer_pool_size"].words
    assert rows["durability"].words == "durability durable durable"


def test_the_kind_of_latency_is_stated(tree):
    assert "Latency is service time, from sending a query to its answer." in tree.by_id("latency").words


def test_the_experiment_file_is_there_to_the_letter_with_how_to_run_it_again(tree):
    section = tree.by_id("reproduce")
    assert [block.text for block in section.all("pre")] == [
        "mydyno run thread-cache.yaml --size demo --again",
        SPEC_TEXT,
    ]
    assert section.all("details", "spec")
    assert "8f3a91c0d2e4b5a6978812f3" in section.text


def test_the_environment_shows_a_dash_for_what_is_not_known(tree):
    names = [each.text for each in tree.by_id("environment").all("dt")]
    values = [each.words for each in tree.by_id("environment").all("dd")]
    facts = dict(zip(names, values, strict=True))
    assert facts["virtualisation"] == "–"
    assert facts["model"] == "Example CPU @ 2.50GHz"


HOSTILE = "<script>alert(1)</script><!-- \"' &amp; {{ 7*7 }} {% raw %} </pre></style> \u202e\x1b[2J 스레드"


def hostile() -> MemoryRun:
    run = thread_cache_run(repeats=3, connections=(10, 100))
    experiment = replace(
        run.experiment,
        name=HOSTILE,
        question=HOSTILE,
        source=HOSTILE,
        size=HOSTILE,
        spec_text=HOSTILE,
        spec_file=HOSTILE,
        plan_fingerprint=HOSTILE,
        points=tuple(replace(point, title=point.title + HOSTILE) for point in run.experiment.points),
    )
    records = tuple(
        replace(
            each,
            server_version=HOSTILE,
            durability=HOSTILE,
            settings_asked={HOSTILE: HOSTILE},
            settings_in_force={HOSTILE: each.point_id + HOSTILE},
            invalidities=tuple(replace(why, check=HOSTILE, message=HOSTILE) for why in each.invalidities),
        )
        for each in run.records
    )
    return replace(
        run, experiment=experiment, records=records, facts={HOSTILE: HOSTILE, "cpu.model": HOSTILE}
    )


def test_hostile_text_is_shown_and_never_obeyed():
    tree = parse(written(hostile()))
    assert [script.attributes.get("type") for script in tree.all("script")][-2:] == [None, None], "ours"
    assert len([script for script in tree.all("script") if "type" not in script.attributes]) == 2
    assert len(tree.all("style")) == 1
    assert tree.by_id("reproduce").all("pre")[1].text == HOSTILE
    visible = "<script>alert(1)</script><!-- \"' &amp; {{ 7*7 }} {% raw %} </pre></style> �"
    assert tree.all("p", "question")[0].words.startswith(visible)
    assert "[2J 스레드" in tree.all("h1")[0].words
    assert "\x1b" not in tree.all("h1")[0].text


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (one_point_run(connections=(10, 50)), "there is nothing to compare"),
        (replace(thread_cache_run(repeats=1), records=()), "No trial has been run."),
        (thread_cache_run(repeats=1, connections=(10,), invalid=(0, 1)), "none of the 2 trials is valid"),
        (thread_cache_run(repeats=1, connections=(10,), invalid=()), "need at least 3 (design.repeats)"),
        (
            replace(thread_cache_run(repeats=3, connections=(10,)), sample_frames={}, interval_frames={}),
            "Queries per second",
        ),
    ],
    ids=["one point", "no trial", "none valid", "one repetition", "no series"],
)
def test_a_thin_run_still_makes_a_whole_page_that_says_what_is_missing(run, said):
    tree = parse(written(run))
    assert said in tree.words
    assert "None" not in tree.all("main")[0].words
    assert "nan" not in tree.all("main")[0].words.split()


def test_many_settings_get_a_row_each_on_the_first_screen_and_a_sentence_below():
    run = thread_cache_run(repeats=3, connections=(10,), levels=(8, 16, 32, 64, 450), invalid=())
    tree = parse(written(run))
    header = tree.by_id("verdict")
    assert [row.all("td")[1].words for row in header.all("tbody")[0].all("tr")] == [
        "8",
        "16",
        "32",
        "64",
        "450",
    ]
    assert len(tree.by_id("comparison").all("ul", "sentences")[0].all("li")) == 4
