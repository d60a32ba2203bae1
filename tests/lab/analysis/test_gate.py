"""The gate fails on a shown loss, passes on a ruled-out one, and says so when it cannot tell."""

from __future__ import annotations

import numpy as np
import pytest

from lab.analysis.builders import LEFT, RIGHT, pair_of_points
from mydyno.lab.analysis.metrics import LATENCY_P95, QUERIES_PER_SECOND
from mydyno.lab.analysis.verdict import Gated, Side, gate, judge, judge_points, state_of
from mydyno.lab.report.compared.view import gate_text


def held(left: list[float], right: list[float], allowed: float = 0.03) -> Gated:
    verdict = judge_points(pair_of_points(left, right), LEFT, RIGHT, QUERIES_PER_SECOND).overall
    (found,) = gate([("", verdict)], allowed)
    return found


def around(middle: float, error: float, n: int = 5) -> list[float]:
    return [middle * (1 + error * step) for step in np.linspace(-1, 1, n)]


@pytest.mark.parametrize(
    ("left", "allowed", "state"),
    [
        (around(90, 0.001), 0.03, "failed"),
        (around(98, 0.001), 0.03, "passed"),
        (around(98, 0.001), 0.01, "failed"),
        (around(110, 0.001), 0.03, "passed"),
        (around(100, 0.2), 0.03, "unsure"),
        ([100.0], 0.03, "unsure"),
    ],
)
def test_the_state_follows_from_the_ratio_and_its_interval(
    left: list[float], allowed: float, state: str
) -> None:
    right = list(reversed(around(100, 0.001, len(left)))) if len(left) > 1 else [100.0]
    assert held(left, right, allowed).state == state


def test_a_higher_latency_is_a_loss() -> None:
    ratio = held(around(110, 0.001), list(reversed(around(100, 0.001)))).verdict.ratio
    verdict = judge(ratio, Side("new"), Side("old"), LATENCY_P95)
    (found,) = gate([("", verdict)], 0.03)
    assert found.state == "failed"
    assert found.loss == pytest.approx(0.10, abs=0.01)


def test_the_worst_state_decides_and_nothing_compared_is_unsure() -> None:
    before = list(reversed(around(100, 0.001)))
    failed, passed = held(around(90, 0.001), before), held(around(110, 0.001), before)
    assert state_of([passed, failed]) == "failed"
    assert state_of([passed, passed]) == "passed"
    assert state_of([]) == "unsure"


def test_a_gate_that_lets_a_measured_loss_pass_says_how_large_it_was() -> None:
    unsure = held([60.0, 72.0, 86.0], [100.0, 130.0, 80.0])
    assert unsure.state == "unsure"
    assert "a loss of 3% cannot be ruled out, measured 29.0% slower" in gate_text(unsure)
    faster = held(around(110, 0.001), list(reversed(around(100, 0.001))))
    assert "is ruled out, measured 10.0% faster" in gate_text(faster)
