"""A large space is screened before it is searched."""

from __future__ import annotations

import pytest

from mydyno.tune import screening
from mydyno.tune.history import Candidate, Score
from mydyno.tune.space import Dimension, Space
from tune.builders import SPACE

LARGE = Space(tuple(Dimension(f"server.config.v{at}", tuple(range(9)), True) for at in range(11)))


def test_a_small_space_is_not_screened() -> None:
    assert screening.points_left(SPACE, 0) == []
    assert screening.dropped(SPACE, [], "throughput") == ()


def test_every_setting_is_low_and_high_in_half_of_the_points() -> None:
    points = screening.points_left(LARGE, 0)
    assert len(points) == 12
    for each in LARGE.dimensions:
        assert sorted(point[each.path] for point in points) == [1] * 6 + [7] * 6
    assert screening.points_left(LARGE, 12) == []


def test_the_settings_without_an_effect_are_dropped() -> None:
    """Only v0 (by 0.4) and v3 (by -0.2) matter."""
    scores = []
    for number, point in enumerate(screening.points_left(LARGE, 0), start=1):
        value = 0.2 * (1 if point["server.config.v0"] == 7 else -1)
        value -= 0.1 * (1 if point["server.config.v3"] == 7 else -1)
        own = Candidate(number=number, origin=screening.ORIGIN, settings=dict(point), point=dict(point))
        scores.append(Score(own, "measured", {"throughput": value}, 1, 0.05))
    effects = screening.effects(LARGE, scores, "throughput")
    assert effects["server.config.v0"] == pytest.approx(0.4)
    assert effects["server.config.v3"] == pytest.approx(-0.2)
    gone = screening.dropped(LARGE, scores, "throughput")
    assert len(gone) == len(LARGE) - screening.KEPT
    assert not {"server.config.v0", "server.config.v3"} & set(gone)
