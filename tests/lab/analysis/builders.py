"""Trials with known numbers in them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import settings

from lab.results.builders import FACTOR, LEVELS, phase, trial
from mydyno.lab.results.records import PointRecord, TrialRecord

FEW = settings(max_examples=25, deadline=None)
"""For properties of whole comparisons: each example resamples thousands of times."""

LEFT = PointRecord(point_id="p2", levels={FACTOR: LEVELS[1]}, title="cache = 450")
RIGHT = PointRecord(point_id="p1", levels={FACTOR: LEVELS[0]}, title="cache = 8")


def measured(
    point: PointRecord,
    block: int,
    curve: Mapping[int, float | None],
    *,
    valid: bool = True,
    durability: str = "durable",
) -> TrialRecord:
    """A trial with `curve`: connections -> queries per second (None: not measured)."""
    return replace(
        trial(1, valid=valid),
        trial_id=f"{point.point_id}-{block}",
        block=block,
        point_id=point.point_id,
        levels=point.levels,
        durability=durability,
        phases=tuple(
            phase(index, connections, rate) for index, (connections, rate) in enumerate(curve.items())
        ),
    )


def pair_of_points(left: Sequence[float], right: Sequence[float], connections: int = 10) -> list[TrialRecord]:
    """One phase a trial; the n-th values of both sides share block n."""
    return [
        *(measured(LEFT, block, {connections: value}) for block, value in enumerate(left)),
        *(measured(RIGHT, block, {connections: value}) for block, value in enumerate(right)),
    ]


def shuffled(trials: Sequence[TrialRecord], seed: int) -> list[TrialRecord]:
    return random.Random(seed).sample(list(trials), len(trials))


def timed(
    point: PointRecord, block: int, programs: Mapping[str, float | None], *, valid: bool = True
) -> TrialRecord:
    """A trial of test programs -> seconds (None: it ended early)."""
    phases = []
    for index, (label, seconds) in enumerate(programs.items()):
        base = replace(phase(index, 1, 1000.0), label=label, measured_from_s=0.5)
        if seconds is None:
            phases.append(replace(base, measured_to_s=1.0, aborted="the server is gone"))
        else:
            phases.append(replace(base, measured_to_s=0.5 + seconds))
    return replace(measured(point, block, {}, valid=valid), phases=tuple(phases))
