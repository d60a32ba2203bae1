"""What each factor of an experiment explains: shares of variance with intervals, tests and level effects.

Assumed: log values are sums of effects and of normal noise with one variance in each stratum; blocks shift
all of their points alike.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mydyno.lab.analysis.bootstrap import LEVEL, Interval
from mydyno.lab.analysis.effects.layout import Factor, Values, grouped, layout_of, values_of
from mydyno.lab.analysis.effects.levels import CellMean, LevelRatio, Means
from mydyno.lab.analysis.effects.terms import Pair
from mydyno.lab.analysis.effects.variance import PLACE, Arrangement, Component, ErrorSource, Shares
from mydyno.lab.analysis.holm import holm
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.standard import least_durable
from mydyno.lab.results.records import DesignRecord, ExperimentRecord, TrialRecord


@dataclass(frozen=True)
class Effect:
    """What one factor does, or two beyond what each does alone."""

    factors: tuple[str, ...]
    """Paths of the experiment file, `connections` (as the caller calls places) for the places of a trial.
    One: a main effect; two: an interaction; none: all other interactions together."""
    share: float
    """Of the variance of the log values, 0 to 1. Where `Effects.noise` is None it holds noise too."""
    interval: Interval | None
    degrees: float
    f: float | None
    error_degrees: float | None
    p_value: float | None
    """None where there is no error to test it against, and of several interactions together."""
    adjusted_p: float | None
    """Corrected for all effects that were tested (Holm)."""
    levels: tuple[LevelRatio, ...] = ()
    """Of a main effect."""
    also: tuple[Pair, ...] = ()
    """Interactions that these trials cannot distinguish from this one."""
    durability: Mapping[str, str] | None = None
    """Level -> label, where levels differ in it."""

    @property
    def shown(self) -> bool:
        """The trials show that it is there."""
        return self.adjusted_p is not None and self.adjusted_p <= 1 - LEVEL


@dataclass(frozen=True)
class Interaction:
    """The means behind an interaction, line by line."""

    lines: str
    across: str
    cells: tuple[CellMean, ...]


@dataclass(frozen=True)
class Effects:
    metric: Metric
    design: DesignRecord
    found: tuple[Effect, ...] = ()
    """By falling share; what is left of the interactions last. Empty where nothing can be said: see `why`."""
    noise: float | None = None
    """Share of the variance; None where trials are not repeated and nothing could be taken for noise."""
    noise_interval: Interval | None = None
    source: ErrorSource = "none"
    trials: int = 0
    blocks: int = 0
    split: bool = False
    """Whole plots were distinguished from trials."""
    places: int = 1
    """Of each trial, 1 where they are not looked at."""
    place: str = ""
    """What places are called among the factors of an effect."""
    confounded: tuple[str, ...] = ()
    """Factors whose levels are wholly explained by other factors or by blocks."""
    constant: tuple[str, ...] = ()
    """Factors of which only one level was measured."""
    combinations: tuple[int, int] = (0, 0)
    """Of levels: how many were measured, and how many there could be."""
    baseline: Mapping[str, str] = field(default_factory=dict)
    """One at a time: factor -> the baseline level of the others."""
    interaction: Interaction | None = None
    """The largest one of two that is shown; None also where a table has too many holes for its means."""
    why: str | None = None
    """Why there is nothing."""

    @property
    def shown(self) -> tuple[Effect, ...]:
        return tuple(effect for effect in self.found if effect.shown)


def effects(
    experiment: ExperimentRecord, trials: Sequence[TrialRecord], metric: Metric, place: str = "connections"
) -> Effects:
    """The effects in the valid `trials` without A/A controls. `place`: what places of a trial are called."""
    points = {point.point_id for point in experiment.compared_points}
    valid = [trial for trial in trials if trial.status == "valid" and trial.point_id in points]
    if not experiment.factors:
        return _nothing(experiment, metric, "nothing varies")
    values = values_of(valid, metric, by_place=place not in experiment.factors)
    if values is None:
        return _nothing(experiment, metric, f"no valid trial measured {metric.noun}")
    if not layout_of(experiment, values.trials).factors:
        return _nothing(experiment, metric, "the valid trials are all of one point")
    found = _arranged(experiment, values)
    if len(values.places) > 1 and not found.strata.repetitions and experiment.design.points != "all":
        # Without repetitions a few points cannot distinguish effects from what they do at each place.
        values = values_of(valid, metric, by_place=False) or values
        found = _arranged(experiment, values)
    if np.ptp(values.logs) < 1e-12:
        return _nothing(experiment, metric, f"{metric.noun} is the same in every trial")
    return _analysed(experiment, found, values, metric, place)


def _arranged(experiment: ExperimentRecord, values: Values) -> Arrangement:
    return Arrangement(
        layout_of(experiment, values.trials), experiment.design.points, max(1, len(values.places))
    )


def _nothing(experiment: ExperimentRecord, metric: Metric, why: str) -> Effects:
    return Effects(metric, experiment.design, why=why)


def _analysed(
    experiment: ExperimentRecord, arrangement: Arrangement, values: Values, metric: Metric, place: str
) -> Effects:
    layout, variance = arrangement.layout, arrangement.analyse(values.logs)
    means = Means(arrangement, values.logs)
    one_by_one = experiment.design.points == "one-at-a-time"
    bases = {factor.name: _baseline(factor) for factor in layout.factors} if one_by_one else {}
    named = {factor.name: factor for factor in layout.factors}
    shares = Shares(variance)
    corrected = holm([component.p_value for component in variance.components])
    tested = []
    for component, adjusted in zip(variance.components, corrected, strict=True):
        effect = _effect(component, adjusted, shares)
        if component.factors == (PLACE,):
            effect = replace(effect, levels=means.places(values.places))
        elif len(component.factors) == 1:
            factor = named[component.factors[0]]
            effect = replace(
                effect,
                levels=means.levels(factor, bases.get(factor.name)),
                durability=_durability(factor, values.trials),
            )
        tested.append(replace(effect, factors=tuple(name or place for name in component.factors)))
    ordered = tuple(sorted(tested, key=lambda effect: (not effect.factors, -effect.share)))
    noise, noise_interval = shares.noise
    varying = {name for factor in layout.factors for name in factor.names}
    return Effects(
        metric=metric,
        found=ordered,
        noise=noise,
        noise_interval=noise_interval,
        source=arrangement.source,
        trials=layout.trials,
        blocks=int(layout.blocks.max()) + 1,
        split=any(stratum.name == "whole plots" for stratum in arrangement.strata.all),
        places=arrangement.places,
        place=place if arrangement.places > 1 else "",
        design=experiment.design,
        confounded=tuple(name for term in arrangement.terms.confounded for name in term.factors),
        constant=tuple(name for name in experiment.factors if name not in varying),
        combinations=(
            int(grouped(*(factor.codes for factor in layout.factors)).max()) + 1,
            math.prod(len(factor.levels) for factor in layout.factors),
        ),
        baseline={name: named[name].levels[code] for name, code in bases.items()},
        interaction=_interaction(ordered, named, means, values, place),
    )


def _effect(component: Component, adjusted: float | None, shares: Shares) -> Effect:
    share, interval = shares.of(component)
    alone = component.tests[0] if len(component.tests) == 1 else None
    return Effect(
        factors=component.factors,
        share=share,
        interval=interval,
        degrees=sum(test.degrees for test in component.tests),
        f=None if alone is None else alone.f,
        error_degrees=None if alone is None else alone.error_degrees,
        p_value=component.p_value,
        adjusted_p=adjusted,
        also=component.also,
    )


def _baseline(factor: Factor) -> int:
    """The level of most points: what each change was tried against."""
    return int(np.argmax(np.bincount(factor.codes[factor.codes >= 0])))


def _durability(factor: Factor, trials: Sequence[TrialRecord]) -> Mapping[str, str] | None:
    """Of each level the worst label of its trials; None where they are alike."""
    labels = {}
    for code, level in enumerate(factor.levels):
        label = least_durable(trial for trial, own in zip(trials, factor.codes, strict=True) if own == code)
        if label is not None:
            labels[level] = label
    return labels if len(set(labels.values())) > 1 else None


def _interaction(
    found: Sequence[Effect], named: Mapping[str, Factor], means: Means, values: Values, place: str
) -> Interaction | None:
    pair = next((each for each in found if each.shown and len(each.factors) == 2 and not each.also), None)
    if pair is None:
        return None
    one, other = pair.factors
    if other == place and other not in named:
        return Interaction(one, other, means.by_place(named[one], values.places))
    # The factor of more levels goes across: few lines are easier to follow.
    lines, across = sorted((named[one], named[other]), key=lambda factor: len(factor.levels))
    cells = means.cells(lines, across)
    return Interaction(lines.name, across.name, cells) if cells else None
