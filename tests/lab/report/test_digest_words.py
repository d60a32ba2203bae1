"""What a digest says in words."""

from __future__ import annotations

from datetime import UTC

import pytest
from queries.builders import digest, group

from mydyno.page.time_zones import Zone
from mydyno.queries.attributes import TITLES, title
from mydyno.queries.records import History, PastRun
from mydyno.queries.report.sql_lines import abbreviated
from mydyno.queries.report.words import amount, amounts_us, error_names, headline, history_words, share


def of(*shares: int) -> str:
    return headline(digest(*(group(f"do {place}", [each]) for place, each in enumerate(shares))))


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ((), "No statement was found"),
        ((700,), "One statement takes all of the time"),
        ((900, 50, 50), "One of 3 statements takes 90% of the time"),
        ((410, 400, 90, 50, 50), "2 of 5 statements take 81% of the time"),
        ((400, *[10] * 60), "One of 61 statements takes 40% of the time"),
        ((*[80] * 6, *[1] * 60), "6 of 66 statements take 89% of the time"),
        ((620, 200, 180), "One of 3 statements takes 62% of the time"),
        ((600, 400), "One of 2 statements takes 60% of the time"),
        ((340, 330, 330), "No statement stands out: the first of 3 takes 34% of the time"),
        ((100, 100, 100, 100), "No statement stands out: the first of 4 takes 25% of the time"),
    ],
)
def test_the_headline_names_as_few_statements_as_take_most_of_the_time(shares, expected):
    assert of(*shares) == expected


def test_the_headline_is_of_the_calls_where_nobody_gave_times():
    result = digest(group("do 1", [0] * 90), group("do 2", [0] * 10))
    assert headline(result) == "One of 2 statements takes 90% of the calls"


def test_groups_beyond_the_limit_are_counted():
    groups = [group(f"do {place}", [1_000 if place < 2 else 1]) for place in range(50)]
    assert headline(digest(*groups, limit=10)) == "2 of 50 statements take 98% of the time"
    assert headline(digest(*groups, limit=1)) == "One of 50 statements takes 49% of the time"


@pytest.mark.parametrize(
    ("part", "expected"),
    [(0, "0%"), (1, "< 0.1%"), (64, "0.6%"), (8_140, "81%"), (9_999, "> 99%"), (10_000, "100%")],
)
def test_a_share_is_never_rounded_to_all_or_to_none(part, expected):
    assert share(part, 10_000) == expected


def test_amounts_are_written_in_their_unit_and_what_is_missing_is_a_dash():
    assert [amount(812_000, "us"), amount(1_536, "bytes"), amount(46_153, "count")] == [
        "812 ms",
        "1.5K",
        "46,153",
    ]
    assert [amount(None, "us"), amount(0, "us")] == ["–", "0"]


def test_every_attribute_has_a_title_and_an_unknown_one_is_its_name():
    assert title("full_scan").short == "full scan"
    assert title("pages_dreamt").short == "pages dreamt"
    assert all(each.means[-1] != "." and each.short for each in TITLES.values())


def test_times_of_a_column_are_in_the_unit_of_the_largest():
    assert amounts_us([4_600_000, 400_000, 1_234, None, 0]) == ["4.60 s", "0.40 s", "< 0.01 s", "–", "0"]
    assert amounts_us([412_000, 1_500]) == ["412 ms", "1.50 ms"]


@pytest.mark.parametrize(
    ("fingerprint", "most", "expected"),
    [
        (
            "select country, sum(price) from sale where placed_at between ? and ? group by country",
            70,
            "select … from sale where placed_at between ? and ? group by country",
        ),
        (
            "select country, sum(price) from sale where placed_at between ? and ? group by country",
            42,
            "select … from sale where placed_at …",
        ),
        (
            "select (select max(a) from x), b from orders o join lines l on l.o = o.id where l.sku = ?",
            60,
            "select … from orders o join lines l where l.sku = ?",
        ),
        (
            "insert into order_lines(order_id, sku, quantity, price) values (?+)",
            45,
            "insert into order_lines(…) values (?+)",
        ),
        ("update customer set name = ? where id = ?", 60, "update customer set name = ? where id = ?"),
        ("call a_procedure_with_a_long_name(?, ...)", 20, "call a_procedure_wi…"),
    ],
)
def test_a_statement_is_shortened_so_that_its_tables_stay(fingerprint, most, expected):
    assert abbreviated(fingerprint, most) == expected
    assert len(expected) <= most


def test_errors_have_their_names():
    assert error_names([("1205", 3), ("99999", 1)]) == [("1205 LOCK_WAIT_TIMEOUT", 3), ("99999", 1)]


def test_a_history_says_since_when_and_how_the_mean_time_went():
    zone = Zone(UTC)
    runs = tuple(
        PastRun(at_us=at, count=1, mean_us=mean) for at, mean in ((1, 100_000), (2, 120_000), (3, 220_000))
    )
    result = history_words(History(first_us=0, digests=3, since_us=1, runs=runs), zone)
    assert result == (
        "first seen 1970-01-01 00:00:00; in 2 of 3 earlier digests; mean ▄▅█ 100 ms -> 220 ms, 2.000× the"
        " median before"
    )
    assert history_words(History(digests=3, since_us=0, runs=runs[-1:]), zone).startswith("new: in none of 3")
    assert history_words(History(digests=0, runs=runs[-1:]), zone) == "no earlier digest"
