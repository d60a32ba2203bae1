"""Numbers as the report writes them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.page import format as write


@pytest.mark.parametrize(
    "one", [write.count, write.number, write.latency, write.duration, write.ratio, write.change]
)
@pytest.mark.parametrize("missing", [None, math.nan, math.inf])
def test_what_is_missing_is_a_dash_and_never_a_zero(one, missing):
    assert one(missing) == "–"


def test_a_measured_zero_stays_a_zero():
    assert [write.count(0), write.number(0), write.latency(0), write.change(1)] == ["0", "0", "0 ns", "0.0%"]


def test_thousands_are_grouped_with_commas():
    assert write.count(1_234_567) == "1,234,567"


@pytest.mark.parametrize(
    ("nanoseconds", "expected"),
    [
        (999, "999 ns"),
        (1_000, "1.00 µs"),
        (850_400, "850 µs"),
        (2_310_000, "2.31 ms"),
        (45_600_000, "45.6 ms"),
        (1_200_000_000, "1.20 s"),
    ],
)
def test_a_latency_is_reported_in_the_unit_that_reads_best(nanoseconds, expected):
    assert write.latency(nanoseconds) == expected


def test_a_change_has_a_sign_and_a_real_minus():
    assert [write.change(1.124), write.change(0.98), write.change(3.5)] == ["+12.4%", "−2.0%", "+250%"]
    assert write.interval(0.98, 1.03, write.change) == "−2.0% to +3.0%"


def test_half_an_interval_is_no_interval():
    assert write.interval(None, 3.0) == write.interval(3.0, None) == "–"


@given(st.floats(min_value=1e-9, max_value=1e15))
def test_three_significant_digits_are_never_off_by_more_than_half_a_percent(value):
    text = write.number(value).replace(",", "")
    assert "e" not in text
    assert float(text) == pytest.approx(value, rel=0.005, abs=0.5e-9)


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_a_shortened_text_fits_and_keeps_short_ones_whole(text, most):
    short = write.shorten(text, most)
    assert len(short) <= most
    if len(" ".join(text.split())) <= most:
        assert short == " ".join(text.split())


def test_the_middle_of_a_long_name_is_what_goes():
    assert write.shorten("innodb_buffer_pool_size = 12884901888", 20) == "innodb_bu…2884901888"


def test_what_would_steer_a_terminal_or_turn_the_reading_direction_is_made_visible():
    assert write.printable("a\x1b[31mb\u202ec\nd") == "a�[31mb�c d"
    assert write.printable("스레드 캐시 = 8") == "스레드 캐시 = 8"


def test_a_sentence_begins_with_a_capital_unless_it_begins_with_the_name_of_a_release():
    assert write.capitalised("p95 latency") == "P95 latency"
    assert write.capitalised("mysql-9.7 has no query cache") == "mysql-9.7 has no query cache"
