"""A large space is screened around the leader before it is searched."""

from __future__ import annotations

import math

import pytest

from mydyno.lab.spec.search import Scalar
from mydyno.server.program.chunks import POOL
from mydyno.tune.history import Candidate, Score
from mydyno.tune.screening import KEPT, ORIGIN, Screening
from mydyno.tune.space import Dimension, Space
from tune.builders import SPACE

NAMES = [f"server.config.v{at}" for at in range(11)]
LARGE = Space(
    (
        Dimension(f"server.config.{POOL}", ("32M", "64M"), True),
        *(Dimension(name, tuple(range(9)), True) for name in NAMES),
    )
)
LEADER_AT = dict.fromkeys(NAMES, 2)
EFFECTS = {NAMES[0]: 0.4, NAMES[3]: -0.2, NAMES[5]: 0.1}


def screening(space: Space = LARGE, **settings: Scalar) -> Screening:
    point = space.nearest({f"server.config.{name}": value for name, value in settings.items()})
    return Screening(space, Candidate(number=2, origin="tuning sheet", settings={}, point=dict(point)), {})


LEADER = screening(innodb_buffer_pool_size="64M", **{f"v{at}": 2 for at in range(11)})


def measured(without: int = 0) -> list[Score]:
    """The leader is 2 times as good as the start, and some settings add to it; `without` the first points."""
    made = [Score(LEADER.leader, "measured", {"throughput": math.log(2)}, 2, 0.01)]
    for number, point in enumerate(LEADER.points, start=3):
        value = math.log(2) + sum(size for path, size in EFFECTS.items() if point[path] == 7)
        own = Candidate(number=number, origin=ORIGIN, settings={}, point=dict(point))
        made.append(Score(own, "measured", {"throughput": value}, 1, 0.05))
    return [made[0], *made[1 + without :]]


def test_a_small_space_is_not_screened() -> None:
    assert screening(SPACE).points == []
    assert screening(SPACE).dropped([], "throughput") == ()


def test_every_setting_is_changed_in_six_of_twelve_and_the_pool_in_none() -> None:
    points = LEADER.points
    assert len(points) == 11
    assert len({tuple(point.items()) for point in points}) == 11
    for name in NAMES:
        assert sorted(point[name] for point in points) == [2] * 5 + [7] * 6
    assert {point[f"server.config.{POOL}"] for point in points} == {"64M"}


def test_far_is_on_the_other_side() -> None:
    words = Dimension("server.config.w", ("fsync", "O_DIRECT", "O_DSYNC"), False)
    own = screening(Space((words, *LARGE.dimensions)), w="O_DSYNC", v0=6, v1=3)
    assert own.far(words) == "fsync"
    assert [own.far(Dimension(name, tuple(range(9)), True)) for name in NAMES[:2]] == [1, 7]
    assert screening(LARGE, v0=0).far(Dimension(NAMES[0], (0, 1), True)) == 1


@pytest.mark.parametrize("without", [0, 2])
def test_effects_are_what_each_setting_adds(without: int) -> None:
    """Also where points could not be measured, as far as the others determine them."""
    effects = LEADER.effects(measured(without), "throughput")
    assert set(effects) == set(NAMES)
    if without == 0:
        for name in NAMES:
            assert effects[name] == pytest.approx(EFFECTS.get(name, 0.0), abs=1e-9)
    assert max(effects, key=lambda name: effects[name]) == NAMES[0]


def test_a_setting_with_whose_far_value_no_server_starts_has_no_effect_and_is_kept() -> None:
    started = [each for each in measured() if each.candidate.point[NAMES[1]] != 7]
    effects = LEADER.effects(started, "throughput")
    assert NAMES[1] not in effects
    assert NAMES[1] not in LEADER.dropped(started, "throughput")
    assert all(point[NAMES[1]] == 2 for point in LEADER.predicted(started, "throughput", 0.01))
    assert LEADER.predicted([], "throughput", 0.01) == []


def test_the_settings_without_an_effect_are_dropped() -> None:
    gone = LEADER.dropped(measured(), "throughput")
    assert len(set(gone) & set(NAMES)) == len(NAMES) - KEPT
    assert not set(EFFECTS) & set(gone)


def test_the_pool_is_dropped_where_the_leader_has_the_largest() -> None:
    assert f"server.config.{POOL}" in LEADER.dropped(measured(), "throughput")
    smaller = Screening(LARGE, screening(innodb_buffer_pool_size="32M").leader, {})
    assert f"server.config.{POOL}" not in smaller.dropped(measured(), "throughput")


def test_what_looks_better_is_predicted_together() -> None:
    """v5 adds 0.1, which is less than the standard error of an effect, 2 x 0.3 / sqrt(12)."""
    sure, all_of_them = LEADER.predicted(measured(), "throughput", 0.3)
    changed = [{name for name in NAMES if point[name] == 7} for point in (sure, all_of_them)]
    assert changed[0] == {NAMES[0]}
    assert {NAMES[0], NAMES[5]} <= changed[1]
    assert NAMES[3] not in changed[1]
    certain = LEADER.predicted(measured(), "throughput", 0.01)[0]
    assert {name for name in NAMES if certain[name] == 7} == {NAMES[0], NAMES[5]}
