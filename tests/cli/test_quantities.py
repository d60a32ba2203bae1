"""Durations and percentages are written the same way in every command."""

from __future__ import annotations

from typing import Any

import pytest

from mydyno.cli.quantities import Duration, Percent, duration, percentage
from mydyno.core.errors import UsageError


def read(option: Any, text: str) -> float:
    value: float = option.parser(text)
    return value


@pytest.mark.parametrize(
    ("text", "seconds", "written"),
    [
        ("10", 10, "10s"),
        ("10s", 10, "10s"),
        (" 10 s ", 10, "10s"),
        ("0.5", 0.5, "0.5s"),
        ("200ms", 0.2, "0.2s"),
        ("90s", 90, "90s"),
        ("10m", 600, "10m"),
        ("1h", 3600, "1h"),
        ("1d", 86400, "24h"),
        ("0", 0, "0s"),
    ],
)
def test_a_duration_is_read_and_written(text: str, seconds: float, written: str) -> None:
    value = read(duration("--for", "help"), text)
    assert value == pytest.approx(seconds)
    assert str(value) == written
    assert read(duration("--for", "help"), written) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["soon", "", "-1", "1 fortnight", "inf", "nan", "1e3", "10 m s"])
def test_what_is_not_a_duration_is_refused_with_the_option(text: str) -> None:
    with pytest.raises(UsageError, match=f"^--for {text}: not a duration") as error:
        read(duration("--for", "help"), text)
    assert error.value.hint == "write it as 10, 10s, 10m or 1h"


def test_a_duration_out_of_bounds_is_refused_with_the_bounds() -> None:
    with pytest.raises(UsageError, match=r"--seconds 50ms: out of bounds\n  hint: at least 0\.1s"):
        read(duration("--seconds", "help", least=0.1), "50ms")
    with pytest.raises(UsageError, match="hint: from 0s to 1h"):
        read(duration("--threshold", "help", most=3600), "2h")


def test_a_unit_is_needed_where_taking_days_for_seconds_would_do_harm() -> None:
    option = duration("--unused-for", "help", needs_unit=True)
    assert read(option, "30d") == 30 * 86400
    with pytest.raises(UsageError, match="--unused-for 30: without a unit"):
        read(option, "30")


@pytest.mark.parametrize("text", ["3%", "0.03", "±3%", " 3 % "])
def test_a_percentage_and_a_fraction_mean_the_same(text: str) -> None:
    value = read(percentage("--margin", "help"), text)
    assert value == pytest.approx(0.03)
    assert str(value) == "3%"


@pytest.mark.parametrize("text", ["3", "1", "50"])
def test_a_bare_number_is_ambiguous(text: str) -> None:
    with pytest.raises(UsageError, match=f"--margin {text}: ambiguous, {text}% or {text} times") as error:
        read(percentage("--margin", "help"), text)
    assert error.value.hint == f"write --margin {text}% or a fraction"


@pytest.mark.parametrize("text", ["three", "", "-3%", "3%%", "nan"])
def test_what_is_not_a_percentage_is_refused_with_the_option(text: str) -> None:
    with pytest.raises(UsageError, match=r"--margin .*: not a percentage"):
        read(percentage("--margin", "help"), text)


@pytest.mark.parametrize("text", ["0%", "60%", "0.6"])
def test_a_percentage_out_of_bounds_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="out of bounds"):
        read(percentage("--margin", "help", least=1e-9, most=0.5), text)


def test_defaults_are_shown_as_they_are_written() -> None:
    assert (str(Duration(600)), str(Percent(0.03)), str(Duration(0.001))) == ("10m", "3%", "0.001s")
