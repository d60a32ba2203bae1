from __future__ import annotations

import pytest

from mydyno.core.percent import AmbiguousPercentError, parse_percent


@pytest.mark.parametrize(
    ("text", "share"),
    [("3%", 0.03), ("0.03", 0.03), ("±3%", 0.03), ("+/-3 %", 0.03), (" 2.5 % ", 0.025), ("150%", 1.5)],
)
def test_a_percentage_and_a_fraction_mean_the_same(text: str, share: float) -> None:
    assert parse_percent(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["much", "", "-3%", "3%%", "nan", "inf"])
def test_what_is_not_a_percentage_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a percentage"):
        parse_percent(text)


@pytest.mark.parametrize("text", ["3", "1", "2.5"])
def test_a_bare_number_that_may_be_percent_or_times_is_ambiguous(text: str) -> None:
    with pytest.raises(AmbiguousPercentError, match=f"ambiguous, {text}% or {text} times"):
        parse_percent(text)
