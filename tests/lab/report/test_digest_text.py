"""A digest and a comparison on a terminal: the golden pages, and what they promise in every case.

`python tests/lab/report/regenerate_golden.py --texts` writes the golden texts anew.
"""

from __future__ import annotations

from datetime import UTC
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queries.builders import digest, group, lognormal, sample, sums

from lab.report.digests import full
from mydyno.page.blocks import bar, heights, on_log_scale
from mydyno.page.lines import plain
from mydyno.page.time_zones import Zone
from mydyno.queries.comparison import compare
from mydyno.queries.order import first, ordered
from mydyno.queries.records import Digest, Example, Flag, Group, Plan, PlanRow, Problem
from mydyno.queries.report.comparison_text import comparison_lines
from mydyno.queries.report.text import digest_lines

GOLDEN = Path(__file__).parent / "golden"
ZONE = Zone(UTC)


def later() -> Digest:
    """The shop an hour later: the lookup has its index, the report is new on the menu, one query is new."""
    by_email, report, stock, *_ = sample().groups
    return digest(
        group(by_email.fingerprint, lognormal(4_100, 900, 0.3, seed=21)),
        group(report.fingerprint, lognormal(60, 32_000_000, 0.3, seed=22)),
        stock,
        group("select count(*) from audit", lognormal(50, 400_000, 0.2, seed=23)),
    )


def page(of: Digest, width: int = 100, details: int = 5, order: str | None = None) -> str:
    return plain(digest_lines(of, width, ZONE, details, order))


def compared(old: Digest, new: Digest, width: int = 100, limit: int | None = None) -> str:
    return plain(comparison_lines(compare(old, new), width, ZONE, limit))


@cache
def golden_digests() -> dict[str, str]:
    return {
        "digest.txt": page(full(), 120, details=3),
        "digest-narrow.txt": page(full(), 60, details=1),
        "digest-comparison.txt": compared(sample(), later()),
    }


@pytest.mark.parametrize("name", golden_digests())
def test_the_page_is_the_golden_one(name: str) -> None:
    assert golden_digests()[name] == (GOLDEN / name).read_text()


@settings(max_examples=20)
@given(st.integers(56, 200))
def test_no_line_is_wider_than_the_terminal_but_for_what_is_there_to_be_copied(width: int) -> None:
    texts = {
        line.strip() for each in sample().groups if each.example for line in each.example.text.splitlines()
    }
    wide = [line for line in page(full(), width).splitlines() if len(line) > width]
    assert [line for line in wide if line.strip() not in texts] == []


def test_a_narrow_terminal_keeps_what_distinguishes_statements() -> None:
    line = next(line for line in page(sample(), 60).splitlines() if line.startswith("2  "))
    assert "24%" in line
    assert "from order_item i joi" in line


def test_a_problem_is_reported_with_its_file_and_line_and_how_often() -> None:
    problem = Problem(
        kind="bad-header", source="a.log", at_byte=9, line=3, count=12, says="Query_time is 'x'"
    )
    text = page(sample().model_copy(update={"problems": (problem,)}))
    assert "problem  a.log:3: Query_time is 'x' (12 times)\n" in text


def test_a_log_of_one_in_so_many_says_so() -> None:
    text = page(digest(group("q", [1_000] * 40, log_slow_rate_limit=[100] * 40)))
    assert "note     the server logged one in 100 (log_slow_rate_limit)" in text
    assert "one logged of" not in text


def test_nothing_at_all_is_said_in_words() -> None:
    text = page(digest())
    assert "slow.log: 0 entries\n" in text
    assert text.endswith("No statement was found.\n")


def test_what_is_not_known_is_left_out_and_never_0() -> None:
    text = page(digest(group("q", sums(5, 5_000), first_us=None, last_us=None)))
    for absent in ("rows", "lock", "p95", "seen", "example", "load", " a second"):
        assert absent not in text


def test_another_order_is_named_instead_of_what_takes_the_time() -> None:
    text = page(ordered(sample(), "count"), order="count")
    assert "\nThe first by count.\n" in text
    assert text.index("1. select product_id") < text.index("2. select id, name")


def test_an_example_keeps_its_lines_to_be_copied_and_cannot_steer_the_terminal() -> None:
    text = page(digest(group("q", [5] * 3, example="SELECT a,\n\tb -- \x1b[31m\u202e\nFROM t")))
    assert (
        "    SELECT a,\n        b -- \N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}\n    FROM t\n"
        in text
    )


def test_a_long_example_is_cut_and_says_how_long_it_is() -> None:
    long = "SELECT " + ", ".join(f"column_{number}" for number in range(2_000))
    text = page(digest(group("q", [5] * 3, example=long)))
    assert f"    … of {len(long):,} bytes\n" in text
    assert "column_1999" not in text


def test_fingerprints_of_log_files_cannot_steer_the_terminal() -> None:
    text = page(digest(group("select '\x1b]0;owned\x07'", [5] * 3)))
    assert "\x1b" not in text
    assert "\x07" not in text


def test_alarming_flags_come_first() -> None:
    flags = {
        "filesort": Flag(yes=3, told=3),
        "full_scan": Flag(yes=1, told=3),
        "full_join": Flag(yes=0, told=3),
    }
    assert "  flags     full scan 33%, sort 100%\n" in page(digest(group("q", [5] * 3, flags=flags)))


def test_an_example_says_where_it_stands() -> None:
    example = Example(text="select 1", bytes=8, source="x.log", line=7, user="u", host="h", database="d")
    assert "  example   x.log:7, by u from h, in d\n" in page(digest(group("q", [5], example=example)))


def test_explains_columns_give_way_before_its_lines_are_torn() -> None:
    row = PlanRow(id=1, table="t", type="ref", possible_keys="a" * 60, key="a", rows=5, extra="Using where")
    of = group("q", [5], plan=Plan(rows=(row,)))
    assert "possible_keys" not in page(digest(of), 50)
    assert "aaa…aaa" in page(digest(of), 150)


@pytest.mark.parametrize("name", ["users", "hosts", "databases"])
def test_many_names_are_counted(name: str) -> None:
    of = group("q", [5] * 8, **{name: tuple((f"n{number}", 1) for number in range(8))})
    assert "n4 12%, 3 more\n" in page(digest(of))


def test_groups_beyond_the_limit_are_reported_as_one() -> None:
    text = page(first(sample(), 2), details=0)
    assert "and 6 more with 9.9% of the time (21,360 statements, 116 s); --limit shows more" in text


def test_an_index_says_which_statements_it_serves_also_those_that_are_not_shown() -> None:
    assert "serves statement 1, with 66% of the time" in page(full(), details=1)
    assert "serves 1 not shown, with 66% of the time" in page(first(ordered(full(), "mean"), 1), details=1)
    assert "Indexes to try" not in page(full(), details=0)


def quick(*groups: Group) -> Digest:
    return digest(*groups)


def test_a_comparison_reports_new_gone_slower_and_more_often() -> None:
    old = quick(group("a", lognormal(100, 10_000, seed=1)), group("b", [50_000] * 90))
    new = quick(group("a", lognormal(300, 30_000, seed=2)), group("c", [70_000] * 90))
    text = compared(old, new)
    assert "slower, called more often, load 0." in text
    assert ". gone, load 0.00125 -> 0 (−0.00125)\n     b\n" in text
    assert ". new, load 0 -> 0.00175 (+0.00175)\n     c\n" in text
    assert "Statements: 1 new, 1 slower, 1 gone." in text


def test_a_comparison_of_the_same_says_that_nothing_changed() -> None:
    same = quick(group("a", [10_000] * 2_000))
    assert compared(same, same).endswith("\nand 1 in which nothing changed\n")


def test_few_calls_are_said_to_be_too_few() -> None:
    text = compared(quick(group("a", [1_000_000] * 5)), quick(group("a", [9_000_000] * 5)))
    assert "no change shown" in text
    assert "9.000×; too few calls to judge (under 30)" in text


def test_another_threshold_is_noticed() -> None:
    old, new = quick(group("a", [1_200_000] * 50)), quick(group("a", [110_000, 1_200_000] * 50))
    assert "the quickest statement of OLD took 1.20 s, that of NEW 110 ms" in compared(old, new)
    assert "the quickest" not in compared(old, old)


def test_a_limited_digest_is_no_proof_that_a_statement_is_new() -> None:
    text = compared(first(sample(), 2), sample())
    assert "OLD has its first 2 statements only and leaves 6 out: 'new' may mean" in text


def test_changes_beyond_the_limit_are_reported_as_one() -> None:
    assert "more, whose loads change by " in compared(sample(), later(), limit=1)


def test_a_bar_is_never_nothing_for_what_is_something() -> None:
    assert bar(0.0, 4) == "    "
    assert bar(1e-9, 4) == "▏   "
    assert bar(0.5, 4) == "██  "
    assert bar(1.0, 4) == "████"
    assert heights([0, 1, 1000]) == " ▁█"


@given(st.lists(st.tuples(st.integers(0, 10**12), st.integers(1, 10**6)), min_size=1, max_size=50))
def test_a_histogram_loses_no_call_when_it_is_drawn(buckets: list[tuple[int, int]]) -> None:
    histogram = sorted(dict(buckets).items())
    steps = on_log_scale(histogram, 40)
    assert sum(steps) == sum(count for _, count in histogram)
    assert 1 <= len(steps) <= 40


def test_moments_are_those_of_their_zone_and_say_which() -> None:
    from zoneinfo import ZoneInfo

    at = 1_795_316_400_000_000
    assert ZONE.span(at, at + 60_000_000) == "2026-11-22 03:00:00 to 03:01:00 UTC"
    assert Zone(ZoneInfo("Asia/Tokyo")).moment(at) == "2026-11-22 12:00:00"
    assert ZONE.span(at, at + 86_400_000_000) == "2026-11-22 03:00:00 to 2026-11-23 03:00:00 UTC"
    assert ZONE.span(at, at + 5) == "2026-11-22 03:00:00 UTC"
    assert ZONE.moment(9 * 10**18) == "–"
