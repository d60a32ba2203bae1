"""The A/A control: what the same setting, measured twice, differs by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.analysis.builders import LEFT, RIGHT, pair_of_points
from mydyno.lab.analysis.control import Control, controls
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND

AGAIN = replace(LEFT, control_of=RIGHT.point_id, title="control")


def found(second: list[float], first: list[float]) -> Control:
    (one,) = controls(pair_of_points(second, first), [RIGHT, AGAIN], QUERIES_PER_SECOND)
    return one


def test_two_measurements_of_the_same_are_the_noise_floor() -> None:
    one = found([1010, 1002, 990, 1012], [1001, 998, 1003, 990])
    assert not one.differs
    assert one.sentence == (
        "The control, cache = 8 measured twice, differs by 0.5% in queries per second "
        "(95% CI -1.8 to 2.9), n=4 vs 4: the noise floor."
    )


def test_a_control_that_differs_is_a_warning() -> None:
    one = found([1110, 1102, 1090, 1112], [1001, 998, 1003, 990])
    assert one.differs
    assert "although both are the same" in one.sentence
    assert one.sentence.endswith("Differences of this size prove nothing.")


def test_a_control_that_may_be_anything_is_no_floor() -> None:
    one = found([1000, 400, 1300], [500, 1100, 700])
    assert one.sentence.endswith("n=3 vs 3: too noisy to be a noise floor.")


@pytest.mark.parametrize(
    ("second", "expected"), [([1000, 1001], "cannot be judged yet"), ([1000, 1000, 1000], "identical values")]
)
def test_a_control_with_too_little_data_says_so(second: list[float], expected: str) -> None:
    assert expected in found(second, [1000.0] * len(second)).sentence


def test_an_experiment_without_a_control_has_no_sentence() -> None:
    assert controls(pair_of_points([1], [1]), [LEFT, RIGHT], QUERIES_PER_SECOND) == ()
