"""The page of a digest: whole, self-contained, inert, and saying what it must."""

from __future__ import annotations

import json
import re
from datetime import UTC as _UTC

import pytest
from queries.builders import digest, group, lognormal, measure, sums

from lab.report.digests import HOSTILE, full, hostile, many, nights
from lab.report.reading import Element, parse
from lab.report.test_html import FETCHING
from mydyno.page.time_zones import Zone
from mydyno.queries.comparison import compare
from mydyno.queries.records import Figures, Flag, Plan, PlanRow, Timeline
from mydyno.queries.report import times as time_bins
from mydyno.queries.report.chart import MOST_STEPS, load_steps
from mydyno.queries.report.groups import LEAST, MOST, detailed, group_sections, remarks
from mydyno.queries.report.page import comparison_html, digest_html
from mydyno.queries.report.plan_table import plan_table
from mydyno.queries.report.plan_table import remarks as plan_remarks
from mydyno.queries.report.profile import profile
from mydyno.queries.report.sql_lines import MOST as MOST_SQL
from mydyno.queries.report.sql_lines import sql_markup
from mydyno.queries.report.statement_table import AT_FIRST, MOST_ROWS

pytestmark = pytest.mark.usefixtures("checked_charts")

UTC = Zone(_UTC)


@pytest.fixture(scope="module")
def tree() -> Element:
    return parse(digest_html(full()))


def rows_of(table: Element) -> list[list[str]]:
    return [[cell.words for cell in row.children if isinstance(cell, Element)] for row in table.all("tr")]


def section(tree: Element, rank: int) -> Element:
    return tree.by_id(full().groups[rank - 1].id)


def test_the_headline_says_what_took_the_time_and_names_the_first_statements_with_links(tree):
    assert tree.all("h1")[0].words == "2 of 8 statements take 90% of the time"
    first, *_ = tree.by_id("headline").all("li")
    assert (
        first.words
        == "66% select id, name, password_hash from customer where email = ? 4,000 calls of 193 ms"
    )
    assert first.all("a")[0].attributes["href"] == f"#{full().groups[0].id}"


def test_the_page_needs_nothing_but_itself_and_every_link_leads_somewhere(tree):
    for element in tree.all():
        assert element.tag not in ("link", "iframe", "img", "object", "embed", "base", "image")
        assert not FETCHING & element.attributes.keys(), element
    ids = [element.attributes["id"] for element in tree.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert {link.attributes["href"] for link in tree.all("a")} <= {f"#{each}" for each in ids}


def test_problems_are_reported_at_once_and_located(tree):
    for where in ("headline", "sources"):
        text = tree.by_id(where).words
        assert "broken tail" in text
        assert "the last entry ends within its statement" in text
        assert "slow.log, line 158,211, byte 6,012,160" in text


def test_the_profile_has_every_statement_and_what_is_beyond_the_limit(tree):
    (table,) = tree.by_id("profile").all("table")
    head, *rows = rows_of(table)
    assert head == [
        *("#", "statement", "share", "total", "calls", "mean", "p50", "p95", "p99", "max", "lock"),
        *("rows examined", "rows sent", "examined per sent", "first seen", "last seen"),
    ]
    assert rows[0][1:6] == [
        "select id, name, password_hash from customer where email = ?",
        *("66%", "773 s", "4,000", "193 ms"),
    ]
    assert rows[0][-2:] == ["03:00:00", "04:00:00"], "one day: the kicker has it"
    assert [row[1] for row in rows[4:]] == ["administrator command: Quit", "the other 3 statements"]
    assert rows[4][10] == "–", "nobody told its locks"


def test_the_values_that_rows_are_sorted_by_are_those_of_the_rows(tree):
    values = json.loads(tree.by_id("statements-values").text)
    assert values["count"] == [each.count for each in full().groups]
    assert values["rows_sent"][-1] is None
    assert {len(column) for column in values.values()} == {5}


def test_a_column_that_nobody_gave_is_left_out():
    view = profile(digest(group(query_time=sums(3, 6_000)), group("do ?", sums(1, 5))), (), UTC)
    assert [key for key, _ in view.heads] == ["share", "total", "count", "mean", "first", "last"]


def test_a_statement_without_a_section_of_its_own_reports_who_ran_it_in_its_row():
    groups = [group(f"do {place}", [1_000] * 2, users=(("web", 2),)) for place in range(LEAST + 1)]
    result = digest(*groups)
    view = profile(result, {each.id for each in detailed(result)}, UTC)
    assert [bool(row.more) for row in view.rows] == [False] * (LEAST + 1), "equal shares: all are needed"
    few = digest(group("heavy", [10**9]), *groups)
    *_, last = profile(few, {each.id for each in detailed(few)}, UTC).rows
    assert last.more == f"id {last.id}; user web"


def test_the_page_is_bounded_whatever_was_digested():
    one = group(f"select {'x' * 500}", [9, 9])
    groups = [one.model_copy(update={"id": str(place)}) for place in range(MOST_ROWS + 7)]
    total = Figures(count=2 * len(groups), measures={"query_time": sums(2 * len(groups), 18 * len(groups))})
    huge = digest(*groups, limit=MOST_ROWS + 5, total=total)
    view = profile(huge, (), UTC)
    assert len(view.rows) == MOST_ROWS
    assert (view.beyond[0], view.beyond[3]) == ("the other 7 statements", "14"), (
        "five without a row, two beyond the limit"
    )
    assert all(len(row.text) <= 240 for row in view.rows)
    assert len(detailed(huge)) == MOST
    assert len(sql_markup("select 'x', " * 100_000)) < 20 * MOST_SQL


def test_2000_statements_make_a_page_that_can_be_mailed():
    text = digest_html(many(2_000))
    assert len(text.encode()) < 3_000_000
    first, more = parse(text).by_id("profile").all("tbody")
    assert (len(first.all("tr")), len(more.all("tr"))) == (AT_FIRST, 2_000 - AT_FIRST)


def test_those_that_take_nearly_all_the_time_have_a_section_and_whatever_was_explained():
    heavy = [group(f"heavy {place}", [1_000_000]) for place in range(12)]
    light = [
        group(f"light {place}", [100 - place], plan=Plan() if place == 3 else None) for place in range(9)
    ]
    found = [each.fingerprint for each in detailed(digest(*heavy, *light))]
    assert sorted(found[:12]) == sorted(each.fingerprint for each in heavy)
    assert found[12:] == ["light 0", "light 1", "light 2", "light 3"]


def test_a_section_has_the_statement_in_lines_its_figures_and_what_stands_out(tree):
    own = section(tree, 2)
    statement = own.all("pre")[0].text
    assert statement.split("\n")[:3] == [
        "select c.country, sum(i.price * i.quantity)",
        "from order_item i",
        "join orders o on o.id = i.order_id",
    ]
    assert [each.words for each in own.all("ul", "remarks")[0].all("li")] == [
        "84,111 rows are examined for each row sent",
        "full scan in each of its calls: a table was scanned whole",
        "temporary table on disk in 75% of its calls: an internal temporary table was written to disk",
        "sort in each of its calls: rows were sorted for lack of an index in their order",
    ]
    assert "Total 284 s, 24%" in own.all("dl", "facts")[0].words
    assert own.all("dl", "people")[0].words == "Users report 100% Hosts 10.0.0.40 100% Databases shop 100%"


def test_an_example_says_where_it_stands(tree):
    text = section(tree, 1).words
    assert "Took 779 ms at 2026-11-22 03:30:00 by web@10.0.0.11 in shop; slow.log, line 31,802" in text


def test_explain_says_in_words_what_is_slow_or_why_there_is_none(tree):
    (table,) = section(tree, 2).all("div", "plan")[0].all("table")
    head, first, *others = rows_of(table)
    assert head[:3] == ["worth a look", "id", "select_type"]
    assert "partitions" not in head
    assert first[0] == (
        "reads the whole table though it could use PRIMARY,placed_at makes a temporary table sorts"
    )
    assert [row[0] for row in others] == ["", ""]
    assert "Table 'shop.stock' doesn't exist" in section(tree, 3).words


def test_an_index_candidate_has_statement_reasons_and_caveats_where_it_is_looked_for(tree):
    for place in (tree.by_id("candidates"), section(tree, 1)):
        (box,) = place.all("div", "candidate")
        assert box.all("pre")[0].text == "ALTER TABLE `shop`.`customer` ADD INDEX `email` (`email`)"
        assert "email = ? finds 1 of 118,422 rows" in box.words
        assert "But each INSERT and each UPDATE of email has one more index to keep" in box.words
    assert (
        "1 index candidate would serve statements that take 66% of the time" in tree.by_id("headline").words
    )
    assert "it waits for locks, it does not look for rows" in section(tree, 3).words


def test_a_statement_that_waits_for_locks_says_so():
    waiting = group(query_time=[1_000_000] * 4, lock_time=[700_000] * 4)
    assert [each.text for each in remarks(waiting)] == ["70% of its time is waiting for locks"]
    assert remarks(group(flags={"full_scan": Flag(yes=0, told=3), "filesort": Flag(yes=0, told=0)})) == ()


def test_only_lines_of_explain_that_are_slow_are_remarked_on():
    assert plan_remarks(PlanRow(type="ref", key="a", extra="Using where; Using index")) == ()
    assert plan_remarks(PlanRow(type="index", extra="Using index")) == ("reads the whole index",)
    table = plan_table(Plan(rows=(PlanRow(partitions="p0"), PlanRow())))
    assert table.columns[4] == "partitions"
    assert table.rows[1][1:] == ("–",) * 12


def test_steps_of_the_load_are_joined_until_they_can_be_drawn_and_gaps_are_0():
    start = 1_795_316_400
    steps = load_steps(Timeline(step_s=60, steps=((start, 120, 30_000_000), (start + 180, 60, 6_000_000))))
    assert [(each.start_s - start, each.rate, each.running) for each in steps] == [
        (0, 2.0, 0.5),
        (60, 0.0, 0.0),
        (120, 0.0, 0.0),
        (180, 1.0, 0.1),
    ]
    long = Timeline(step_s=1, steps=tuple((start + second, 1, 1_000_000) for second in range(1_000)))
    joined = load_steps(long)
    assert len(joined) <= MOST_STEPS
    assert sum(each.rate * each.length_s for each in joined) == 1_000
    assert load_steps(None) == ()


def test_bins_of_times_hold_every_call_on_an_axis_that_all_groups_share():
    fast, slow = measure(lognormal(1_000, 90)), measure([12_000_000])
    on = time_bins.axis([fast, slow])
    assert [on.ticks[0], on.ticks[-1]] == [10, 100_000_000]
    assert sum(time_bins.counts(fast, on)) == 1_000
    assert time_bins.counts(slow, on).index(1) == on.place(12_000_000)
    assert on.edge(on.place(12_000_000)) <= 12_000_000 < on.edge(on.place(12_000_000) + 1)


@pytest.mark.parametrize("strange", [measure([0]), measure([2**63 - 1]), sums(3, 9), measure([])])
def test_times_at_either_end_have_a_place_too(strange):
    on = time_bins.axis([strange])
    assert sum(time_bins.counts(strange, on)) == (strange.count if strange.histogram else 0)


def test_a_digest_of_nothing_is_a_page_too():
    tree = parse(digest_html(digest()))
    assert tree.all("h1")[0].words == "No statement was found"
    assert [each.attributes["id"] for each in tree.all("section")] == ["sources"]


def test_sums_alone_make_a_section_without_a_histogram():
    (one,) = group_sections(result := digest(group(query_time=sums(3, 6_000_000))), result.groups, UTC)
    assert one.times is None
    assert one.measures.rows == (("query time", "6.00 s", "100%", "–", "2.00 s", "–", "–", "–", "–"),)


def test_hostile_text_is_shown_and_never_obeyed():
    text = digest_html(hostile())
    tree = parse(text)
    runnable = [each for each in tree.all("script") if each.attributes.get("type") != "application/json"]
    assert len(runnable) == 3, "ours"
    assert tree.all("img") == []
    visible = HOSTILE.partition(" javascript")[0]
    assert visible in tree.by_id("sources").words
    assert visible in tree.by_id(hostile().groups[0].id).words
    shown = "".join(each.text for each in tree.all() if each.tag not in ("script", "html", "body", "main"))
    assert not re.search("[\x00\x1b\u202e\ufffe]", shown), "they steer terminals and the direction of text"


def test_a_comparison_says_what_the_load_changed_by_and_which_statements_did_it():
    tree = parse(comparison_html(nights()))
    assert tree.all("h1")[0].words == (
        "The load grew from 0.0380 to 0.312; statements: 1 new, 1 gone, 1 slower"
    )
    head, *rows = rows_of(tree.by_id("changes").all("table")[0])
    assert head[1:4] == ["statement", "what changed", "load"]
    assert [row[1:4] for row in rows] == [
        ["select id, name from customer where email = ?", "slower", "+0.221"],
        ["select country, sum(price) from sale group by country", "new", "+0.0850"],
        ["select count(*) from visit", "gone", "−0.0350"],
        ["select * from basket_line where basket_id in (?+)", "called more often", "+0.00245"],
        [rows[4][1], "as before", "±0"],
    ]
    own = tree.by_id(nights().changes[0].id)
    assert "Mean 966 µs → 195 ms: 202×" in own.words
    assert [each.words for each in own.all("h3")] == [
        "How long its calls took, old",
        "How long its calls took, new",
    ]


def test_a_comparison_needs_nothing_but_itself_and_is_inert():
    for one in (nights(), compare(hostile(), hostile()), compare(digest(), digest())):
        tree = parse(comparison_html(one))
        ids = [element.attributes["id"] for element in tree.all() if "id" in element.attributes]
        assert len(ids) == len(set(ids))
        assert {link.attributes["href"] for link in tree.all("a")} <= {f"#{each}" for each in ids}
        assert tree.all("img") == []
        assert len([each for each in tree.all("script") if "type" not in each.attributes]) == 3, "ours"
    assert tree.all("h1")[0].words == "No statement changed"


def test_a_statement_that_was_called_once_has_no_distribution():
    (one,) = group_sections(
        result := digest(group(query_time=[7_000], rows_sent=[0], tmp_tables=[0])), result.groups, UTC
    )
    assert one.times is None
    assert one.measures.columns == ("measure", "of this call", "of all")
    assert [row[0] for row in one.measures.rows] == ["query time", "rows sent"], "no temporary table, no row"
    assert [name for name, _ in one.facts] == ["Total", "Calls", "Seen"]
