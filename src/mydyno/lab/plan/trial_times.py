"""What trials took on this machine: a plan's estimate learns from it. Pure; `lab_times.py` of trial reads it.

The time of a trial has a part that a clock ends (warm-ups, measured seconds, pauses), which is known, and a
part that is assumed (boots, copies, work that is counted). Only the latter is learned: as the seconds that
the same point took before, else as a factor on the assumption, from trials of the same program on the same
environment.
"""

from collections.abc import Sequence
from statistics import fmean, quantiles
from typing import Literal

from pydantic import ConfigDict

from mydyno.core.grounds import GROUNDS
from mydyno.core.record import Record
from mydyno.lab.plan.layers import digest
from mydyno.lab.plan.point import Point

LAST = 40
"""Trials of one program in one environment that are looked at, the latest ones."""
LEAST_MARGIN = 0.1
"""The end of a range is at least so far from its middle: load, caches and neighbours come and go."""


class TrialTime(Record):
    """One trial that was measured here, without the making of its dataset and of frozen disks."""

    model_config = ConfigDict(extra="ignore")

    point: str
    """Digest of the point's setup and workload."""
    ground: str
    """`local`, `uml` or `vm`; `none` without a storage section."""
    program: str
    """The workload's generator."""
    clocked: float
    """Seconds that a clock ends."""
    assumed: float
    """Seconds of all else, as a plan assumes them."""
    seconds: float
    """What it took."""

    @property
    def factor(self) -> float:
        """By how much its assumed part was longer than assumed."""
        return max(0.0, self.seconds - self.clocked) / self.assumed


Basis = Literal["same point", "same program", "assumptions"]


class TrialCost(Record):
    """Seconds that one trial of a point takes, without its dataset and frozen disks, which are made once."""

    clocked: float
    assumed: float
    low: float
    middle: float
    high: float
    basis: Basis
    """What it was judged by: trials of this machine, or stated assumptions alone."""


def time_of(point: Point, cost: TrialCost, seconds: float) -> TrialTime:
    """A trial of `point`, for which its plan had expected `cost`."""
    return TrialTime(
        point=point_key(point),
        ground=_ground(point),
        program=point.workload.generator,
        clocked=cost.clocked,
        assumed=cost.assumed,
        seconds=seconds,
    )


def trial_cost(point: Point, clocked: float, assumed: float, past: Sequence[TrialTime]) -> TrialCost:
    """What a trial of `point` takes, judged by `past` (oldest first)."""
    key, ground = point_key(point), _ground(point)
    alike = [
        time
        for time in past
        if (time.ground, time.program) == (ground, point.workload.generator) and time.assumed > 0
    ][-LAST:]
    if same := [time.seconds for time in alike if time.point == key]:
        low, middle, high = _spread(same)
        basis: Basis = "same point"
    elif alike:
        low, middle, high = (clocked + assumed * each for each in _spread([time.factor for time in alike]))
        basis = "same program"
    else:
        least, most = GROUNDS[point.setup.host.kind if point.setup.storage is not None else "local"].slowdown
        low, middle, high = (clocked + assumed * each for each in (least, 1.0, most))
        basis = "assumptions"
    return TrialCost(clocked=clocked, assumed=assumed, low=low, middle=middle, high=high, basis=basis)


def point_key(point: Point) -> str:
    return digest(
        {"setup": point.setup.model_dump(mode="json"), "workload": point.workload.model_dump(mode="json")}
    )


def _ground(point: Point) -> str:
    return point.setup.host.kind if point.setup.storage is not None else "none"


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Around the mean, which adds up over trials: the middle half of 4 values or more, else all of them."""
    mean = fmean(values)
    low, high = min(values), max(values)
    if len(values) >= 4:
        low, _, high = quantiles(values, n=4, method="inclusive")
    return min(low, mean * (1 - LEAST_MARGIN)), mean, max(high, mean * (1 + LEAST_MARGIN))
