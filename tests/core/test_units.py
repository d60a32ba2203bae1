import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.core.units import format_bytes, format_duration, parse_bytes, parse_duration


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4096", 4096),
        ("16K", 16384),
        ("1.5G", 1610612736),
        ("2 M", 2097152),
        ("128MiB", 134217728),
        ("1t", 2**40),
        ("18446744073709551615", 2**64 - 1),
    ],
)
def test_sizes_are_read_as_my_cnf_reads_them(text: str, count: int) -> None:
    assert parse_bytes(text) == count


@pytest.mark.parametrize(
    "text", ["", "G", "-1K", "1.0001K", "12X", "10 apples", "1e3", "9" * 400, "9" * 5000]
)
def test_what_is_not_a_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        parse_bytes(text)


@given(st.integers(min_value=0, max_value=1023), st.sampled_from(["K", "M", "G", "T"]))
def test_a_formatted_size_reads_back_as_itself(number: int, suffix: str) -> None:
    count = parse_bytes(f"{number}{suffix}")
    assert parse_bytes(format_bytes(count)) == count


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10ms", 0.01), ("1.5s", 1.5), ("2m", 120.0), ("2min", 120.0), ("1h", 3600.0), ("500us", 0.0005)],
)
def test_durations_need_and_understand_a_unit(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "10", "s", "-1s", "1 fortnight", "1s 2ms", "9" * 400 + "s"])
def test_what_is_not_a_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.85, "850ms"), (0.00002, "20us"), (12.5, "12.5s"), (200, "3m 20s"), (7500, "2h 05m"), (59.999, "60s")],
)
def test_a_duration_is_shown_in_the_units_a_person_needs(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
