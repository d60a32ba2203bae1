"""Holm's correction, against hand-worked numbers and its promises."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.lab.analysis.holm import holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_a_worked_example() -> None:
    # 0.01 * 4; 0.013 * 3 raised to its predecessor; 0.03 * 2; 0.04 * 1 raised likewise.
    assert holm([0.01, 0.04, 0.03, 0.013]) == pytest.approx([0.04, 0.06, 0.06, 0.04])


def test_one_that_could_not_be_tested_does_not_count() -> None:
    assert holm([None, 0.02, None]) == [None, 0.02, None]
    assert holm([]) == []


@given(p_values)
def test_it_never_lowers_a_p_value_and_never_exceeds_bonferroni(values: list[float]) -> None:
    for before, after in zip(values, holm(values), strict=True):
        assert after is not None
        assert before <= after <= min(1.0, before * len(values)) + 1e-12


@given(p_values)
def test_it_keeps_the_order_of_the_p_values(values: list[float]) -> None:
    pairs = sorted(zip(values, holm(values), strict=True), key=lambda pair: pair[0])
    adjusted = [after for _, after in pairs if after is not None]
    assert adjusted == sorted(adjusted)


def test_a_family_without_any_effect_raises_a_false_alarm_in_one_of_twenty() -> None:
    noise = random.Random(5)
    alarms = 0
    for _ in range(2000):
        adjusted = holm([noise.random() for _ in range(12)])
        alarms += any(p is not None and p <= 0.05 for p in adjusted)
    assert 0.03 <= alarms / 2000 <= 0.07
