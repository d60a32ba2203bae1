"""A metric of every setting side by side, place by place: for a run without a curve, or with so many settings
that curves would hide each other."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import Place, places
from mydyno.lab.analysis.summary import summary
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.evidence import COLORS, Evidence, Setting
from mydyno.lab.report.views.curves import Drawn, Measured, measured

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
    found = summary(evidence.trials, [setting.point_id for setting in evidence.settings], metric)
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
