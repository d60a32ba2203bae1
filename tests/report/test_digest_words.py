"""What a digest says in words."""

from __future__ import annotations

import pytest
from digest.builders import digest, group

from mydyno.digest.attributes import TITLES, title
from mydyno.report.digests.words import amount, headline, share


def of(*shares: int) -> str:
    return headline(digest(*(group(f"do {place}", [each]) for place, each in enumerate(shares))))


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ((), "No statement was found"),
        ((700,), "One statement takes all of the time"),
        ((900, 50, 50), "One of 3 statements takes 90 % of the time"),
        ((410, 400, 90, 50, 50), "2 of 5 statements take 81 % of the time"),
        ((400, *[10] * 60), "One of 61 statements takes 40 % of the time"),
        ((*[80] * 6, *[1] * 60), "6 of 66 statements take 89 % of the time"),
        ((100, 100, 100, 100), "No statement stands out: the first of 4 takes 25 % of the time"),
    ],
)
def test_the_headline_names_as_few_statements_as_take_most_of_the_time(shares, told):
    assert of(*shares) == told


def test_the_headline_is_of_the_calls_where_nobody_told_times():
    told = digest(group("do 1", [0] * 90), group("do 2", [0] * 10))
    assert headline(told) == "One of 2 statements takes 90 % of the calls"


def test_groups_beyond_the_limit_are_counted():
    groups = [group(f"do {place}", [1_000 if place < 2 else 1]) for place in range(50)]
    assert headline(digest(*groups, limit=10)) == "2 of 50 statements take 98 % of the time"
    assert headline(digest(*groups, limit=1)) == "One of 50 statements takes 49 % of the time"


@pytest.mark.parametrize(
    ("part", "told"),
    [(0, "0 %"), (1, "< 0.1 %"), (64, "0.6 %"), (8_140, "81 %"), (9_999, "> 99 %"), (10_000, "100 %")],
)
def test_a_share_is_never_rounded_to_all_or_to_none(part, told):
    assert share(part, 10_000) == told


def test_amounts_are_written_in_their_unit_and_what_is_missing_is_a_dash():
    assert [amount(812_000, "us"), amount(1_536, "bytes"), amount(46_153, "count")] == [
        "812 ms",
        "1.5K",
        "46\N{NARROW NO-BREAK SPACE}153",
    ]
    assert [amount(None, "us"), amount(0, "us")] == ["–", "0"]


def test_every_attribute_has_a_title_and_an_unknown_one_is_its_name():
    assert title("full_scan").short == "full scan"
    assert title("pages_dreamt").short == "pages dreamt"
    assert all(each.means[-1] != "." and each.short for each in TITLES.values())
