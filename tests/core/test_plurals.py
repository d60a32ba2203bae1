"""A noun agrees with its number."""

from __future__ import annotations

import pytest

from mydyno.core.plurals import agreeing, counted


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (1, "valid trial", "1 valid trial"),
        (0, "trial", "0 trials"),
        (2, "index", "2 indexes"),
        (3, "entry", "3 entries"),
        (2, "day", "2 days"),
    ],
)
def test_one_is_singular_and_everything_else_plural(number: int, noun: str, said: str) -> None:
    assert counted(number, noun) == said


def test_a_verb_agrees_with_its_number() -> None:
    assert (counted(1, "table", "is"), counted(2, "table", "has")) == ("1 table is", "2 tables have")
    assert agreeing(1, "does") == "does"
