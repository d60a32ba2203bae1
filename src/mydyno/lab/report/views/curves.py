"""A metric against connections or queue depth, a curve a setting, with 95% intervals over valid trials;
and the same side by side, place by place, for a run without a curve, or with so many settings
that curves would hide each other.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mydyno.core.factors import last_part
from mydyno.lab.analysis.bootstrap import ends
from mydyno.lab.analysis.grid import Grid, GridRow
from mydyno.lab.analysis.metrics import FSYNC_P99, LATENCY_P95, LATENCY_P99, READ_P99, WRITE_P99, Metric
from mydyno.lab.analysis.observations import Place, places
from mydyno.lab.analysis.scalability import Scalability
from mydyno.lab.analysis.summary import Summary, summary
from mydyno.lab.analysis.words import Words, tail_latency
from mydyno.lab.report.evidence import COLORS, Evidence, Setting
from mydyno.lab.report.views.optima import Optima


@dataclass(frozen=True)
class Measured:
    """A geometric mean over trials in the metric's unit (a latency in nanoseconds), as `Summary.value`."""

    value: float
    """The mean over trials."""
    low: float | None
    """Ends of the mean's 95% interval; None with fewer than three trials."""
    high: float | None
    trials: tuple[float, ...]
    """The value of each valid trial, in their order."""

    @property
    def n(self) -> int:
        return len(self.trials)


class Drawn(ABC):
    """What a picture of many means says of all of them together."""

    @abstractmethod
    def means(self) -> Sequence[Measured]:
        """Those that were measured."""

    @property
    def empty(self) -> bool:
        return not self.means()

    @property
    def has_intervals(self) -> bool:
        return any(mean.low is not None for mean in self.means())

    @property
    def most(self) -> float:
        """The largest value to be drawn; 0 when there is none."""
        return max((end for mean in self.means() for end in (*mean.trials, mean.high or 0)), default=0.0)

    @property
    def least_positive(self) -> float | None:
        """The smallest value above 0 that was measured: an interval may reach as near to 0 as it likes."""
        return min((value for mean in self.means() for value in mean.trials if value > 0), default=None)


@dataclass(frozen=True)
class CurvePoint(Measured):
    connections: int
    """Or the queue depth."""


@dataclass(frozen=True)
class Curve:
    setting: Setting
    points: tuple[CurvePoint, ...]
    """By rising connections; what was not measured is not there."""
    name: str
    """The label of its line."""
    law: Scalability | None = None
    """Of throughput, where it could be fitted."""

    def at(self, connections: int) -> CurvePoint | None:
        return next((point for point in self.points if point.connections == connections), None)


@dataclass(frozen=True)
class Curves(Drawn):
    metric: Metric
    curves: tuple[Curve, ...]
    """One for each setting, also for those without a point."""
    words: Words

    def means(self) -> list[CurvePoint]:
        return [point for curve in self.curves for point in curve.points]

    @property
    def connections(self) -> tuple[int, ...]:
        return tuple(sorted({point.connections for point in self.means()}))


def curves(evidence: Evidence, metric: Metric, optima: Optima | None = None) -> Curves:
    """With `optima` each curve has its fitted law."""
    found = summary(evidence.with_controls, [setting.point_id for setting in evidence.settings], metric)
    return Curves(
        metric,
        tuple(
            Curve(
                setting,
                tuple(
                    point
                    for (point_id, place), one in found.items()
                    if point_id == setting.point_id and (point := _point(place, one)) is not None
                ),
                setting.signed,
                None if optima is None else optima.of(setting),
            )
            for setting in evidence.settings
        ),
        evidence.words,
    )


def measured(of: Summary) -> Measured | None:
    """None when nothing was."""
    if of.value is None:
        return None
    return Measured(of.value, *ends(of.interval), of.values)


def _point(place: Place, of: Summary) -> CurvePoint | None:
    """None also for a test program: it is on no curve."""
    if isinstance(place, str):
        return None
    found = measured(of)
    return None if found is None else CurvePoint(found.value, found.low, found.high, found.trials, place)


def tails(evidence: Evidence) -> tuple[Metric, ...]:
    """Of I/Os each kind, since a write that a cache takes is not like a read; else of all together."""
    kinds = {each.kind for trial in evidence.valid for phase in trial.phases for each in phase.statements}
    of_kinds = (("read", READ_P99), ("write", WRITE_P99), ("fsync", FSYNC_P99))
    own = tuple(metric for kind, metric in of_kinds if kind in kinds)
    return own if evidence.experiment.work == "ios" and own else (tail_latency(evidence.trials),)


def latencies(evidence: Evidence) -> tuple[Metric, ...]:
    """Those that the report draws."""
    return tails(evidence) if evidence.experiment.work == "ios" else (LATENCY_P95, LATENCY_P99)


@dataclass(frozen=True)
class Panel:
    title: str
    """Empty where it is the only one."""
    subtitle: str
    """What the title is a level of; empty where that is clear."""
    curves: Curves
    own_names: bool
    """Its lines are named after the levels of one factor, not after settings."""


def panels(evidence: Evidence, of: Sequence[Curves]) -> tuple[Panel, ...]:
    """Without those of which nothing was measured."""
    grid = evidence.grid
    views = [view for view in of if not view.empty]
    if grid is None or not evidence.crossed:
        return tuple(Panel(view.metric.noun if len(views) > 1 else "", "", view, False) for view in views)
    names = tuple(last_part(factor) for factor in grid.others)
    found = (
        Panel(
            row.name,
            ", ".join((*names, *((view.metric.noun,) if len(views) > 1 else ()))),
            _of_row(grid, row, view),
            True,
        )
        for row in grid.rows
        for view in views
    )
    return tuple(panel for panel in found if not panel.curves.empty)


def _of_row(grid: Grid, row: GridRow, view: Curves) -> Curves:
    by_point = {curve.setting.point_id: curve for curve in view.curves}

    def curves() -> Iterator[Curve]:
        for level, point in zip(grid.columns, row.points, strict=True):
            if point is not None:
                curve = by_point[point.point_id]
                yield replace(curve, name=f"{level}{curve.setting.sign}")

    return replace(view, curves=tuple(curves()))


_MANY_ORDERS = 20


@dataclass(frozen=True)
class Level:
    setting: Setting
    at: Measured | None
    """None where it was not measured."""


@dataclass(frozen=True)
class Levels(Drawn):
    metric: Metric
    words: Words
    groups: tuple[tuple[Place, tuple[Level, ...]], ...]
    """One for each place, with one level for each setting."""

    def means(self) -> list[Measured]:
        return [level.at for _, group in self.groups for level in group if level.at is not None]

    @property
    def instead_of_ratios(self) -> bool:
        """A picture of every comparison would say the same again, or be as tall as a tower."""
        settings = max((len(group) for _, group in self.groups), default=0)
        return not self.empty and (len(self.groups) == 1 or settings > COLORS)

    @property
    def spreads(self) -> bool:
        """The largest latency is so many times the smallest that only a logarithmic axis shows both. A rate
        is always drawn from 0: its length is what is compared."""
        least = self.least_positive
        return self.metric.unit == "ns" and least is not None and least * _MANY_ORDERS < self.most


def levels(evidence: Evidence, metric: Metric, wanted: bool) -> Levels:
    """Without a group unless it is `wanted`. Test programs are not in it: their work is given, so that their
    rate says nothing."""
    if not wanted:
        return Levels(metric, evidence.words, ())
    found = summary(evidence.with_controls, [setting.point_id for setting in evidence.settings], metric)
    came_to = {
        setting.point_id: places(evidence.trials_of(setting.point_id)) for setting in evidence.settings
    }

    def group(place: Place) -> tuple[Level, ...]:
        """Not of settings whose load has no such place, but of those that never came to any."""
        return tuple(
            Level(setting, measured(found[setting.point_id, place]))
            for setting in _in_rows(evidence)
            if place in came_to[setting.point_id] or not came_to[setting.point_id]
        )

    loads = (place for place in places(evidence.trials) if place not in evidence.programs)
    return Levels(metric, evidence.words, tuple((place, group(place)) for place in loads))


def _in_rows(evidence: Evidence) -> tuple[Setting, ...]:
    """Those that are compared with each other are side by side."""
    if evidence.grid is None:
        return evidence.settings
    settings = {setting.point_id: setting for setting in evidence.settings}
    return tuple(settings[point.point_id] for row in evidence.grid.rows for point in row.present)
