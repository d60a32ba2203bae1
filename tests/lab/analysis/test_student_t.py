"""Student's t distribution agrees with scipy's."""

from __future__ import annotations

import pytest
from scipy import special

from mydyno.lab.analysis.student_t import exceeds, quantile, shift_for

FREEDOMS = (2, 3, 4, 5, 8, 20, 100, 999, 1998)
CHANCES = (0.8, 0.95, 0.975, 0.99, 0.995, 0.9995)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("chance", CHANCES)
def test_a_quantile_is_that_of_scipy(freedom: int, chance: float) -> None:
    assert quantile(chance, freedom) == pytest.approx(special.stdtrit(freedom, chance), rel=1e-7)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("value", [0.1, 2.0, 6.0])
def test_a_chance_is_that_of_scipy(freedom: int, shift: float, value: float) -> None:
    expected = 1 - special.nctdtr(freedom, shift, value)
    assert exceeds(value, freedom, shift) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("power", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("level", [0.95, 0.99])
def test_a_shift_is_that_of_scipy(freedom: int, power: float, level: float) -> None:
    value = special.stdtrit(freedom, (1 + level) / 2)
    expected = special.nctdtrinc(freedom, 1 - power, value)
    assert shift_for(power, value, freedom) == pytest.approx(expected, rel=1e-6)
