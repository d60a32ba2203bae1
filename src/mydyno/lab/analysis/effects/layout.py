"""Trials as a table for the analysis of variance: levels, blocks and whole plots by code, log values; and
subspaces: what a set of columns spans, and what it adds to another.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import Place, overall_observations, overall_places, value_at
from mydyno.lab.results.records import ExperimentRecord, TrialRecord

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]

_TINY = 1e-8
"""Relative length below which a direction is dropped: columns are indicators, whose angles are coarse."""


def indicators(codes: Codes) -> Numbers:
    """A column of 0 and 1 for each code that occurs."""
    return np.asarray(codes[:, None] == np.unique(codes)[None, :], dtype=np.float64)


def grouped(*codes: Codes) -> Codes:
    """One code for each combination of codes that occurs."""
    return np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def basis(columns: Numbers) -> Numbers:
    """Orthonormal columns that span the same space; none where all are 0."""
    return beyond(columns, np.empty((columns.shape[0], 0)))


def beyond(columns: Numbers, known: Numbers) -> Numbers:
    """Orthonormal columns for what `columns` add to the space of the orthonormal columns `known`."""
    scale = np.linalg.norm(columns)
    if columns.size == 0 or scale == 0:
        return np.empty((columns.shape[0], 0))
    rest = columns - known @ (known.T @ columns)
    rest -= known @ (known.T @ rest)  # once more: rounding of the first projection
    left, lengths, _ = np.linalg.svd(rest, full_matrices=False)
    return np.asarray(left[:, lengths > _TINY * scale])


def extended(known: Numbers, columns: Numbers) -> Numbers:
    """The orthonormal columns `known` and what `columns` add to them."""
    return np.hstack([known, beyond(columns, known)])


def squared_length(columns: Numbers, values: Numbers) -> float:
    """Of the part of `values` (one column or several) that lies in the space of orthonormal `columns`."""
    return float(np.sum((columns.T @ values) ** 2))


ABSENT = -1
"""Code of a nested factor where it does not apply."""


@dataclass(frozen=True)
class Factor:
    names: tuple[str, ...]
    """Its path in the experiment file; several where they never vary apart."""
    levels: tuple[str, ...]
    codes: Codes
    """One for each trial: the position in `levels`, or ABSENT."""

    @property
    def name(self) -> str:
        return " or ".join(self.names)


@dataclass(frozen=True)
class Layout:
    """How the trials were arranged. All codes have one entry a trial."""

    factors: tuple[Factor, ...]
    blocks: Codes
    plots: tuple[Codes, ...] = ()
    """Whole plots, the dearest first: trials of one code followed each other without a rebuild. Each is finer
    than the one before it."""

    @property
    def trials(self) -> int:
        return self.blocks.size


@dataclass(frozen=True)
class Values:
    """Logarithms of the metric: a row for each trial, a column for each place."""

    logs: Numbers
    places: tuple[Place, ...]
    """Empty where the single column is over all places."""
    trials: tuple[TrialRecord, ...]


def values_of(trials: Sequence[TrialRecord], metric: Metric, *, by_place: bool) -> Values | None:
    """The metric of `trials`, at each place or over all; None where none has it all above 0.

    Places are numbers of connections (queue depths): names are other work, not another level of a load.
    """
    over = overall_places(trials, metric)
    if by_place and not metric.summed and len(over) > 1 and all(isinstance(place, int) for place in over):
        logs = np.log([[value_at(trial, place, metric) or np.nan for place in over] for trial in trials])
        return Values(logs, over, tuple(trials))
    if not over and not any(trial.totals for trial in trials):
        return None
    seen = {one.trial_id: one.value for one in overall_observations(trials, over, metric) if one.value > 0}
    kept = tuple(trial for trial in trials if trial.trial_id in seen)
    if not kept:
        return None
    return Values(np.log([[seen[trial.trial_id]] for trial in kept]), (), kept)


def layout_of(experiment: ExperimentRecord, trials: Sequence[TrialRecord]) -> Layout:
    """The arrangement of `trials`; factors with one level only are left out."""
    # Of numbers that were measured elsewhere nobody knows which trials ran side by side.
    side_by_side = [(0, "") if experiment.imported else trial.block_and_host for trial in trials]
    places = {side: place for place, side in enumerate(sorted(set(side_by_side)))}
    blocks = np.array([places[side] for side in side_by_side], dtype=np.int64)
    factors = tuple(
        factor
        for name, levels in experiment.factors.items()
        if len(np.unique((factor := _factor(name, levels, trials)).codes)) > 1
    )
    plots: list[Codes] = []
    held: list[Codes] = [blocks]
    for group in experiment.design.hard_factors:
        held += [_factor(name, experiment.factors[name], trials).codes for name in group]
        plots.append(grouped(*held))
    return Layout(merged(factors), blocks, tuple(plots))


def _factor(name: str, levels: Sequence[str], trials: Sequence[TrialRecord]) -> Factor:
    """With the levels that some trial has, in the order of the experiment file."""
    found = {trial.levels.get(name) for trial in trials}
    present = tuple(level for level in levels if level in found)
    code = {level: place for place, level in enumerate(present)}
    own = [code.get(trial.levels.get(name, ""), ABSENT) for trial in trials]
    return Factor((name,), present, np.array(own, dtype=np.int64))


def merged(factors: Sequence[Factor]) -> tuple[Factor, ...]:
    """Factors that always vary together as one: an effect of one cannot be separated from the others'."""
    groups: list[list[Factor]] = []
    for factor in factors:
        for group in groups:
            cells = grouped(group[0].codes, factor.codes).max()
            if cells == grouped(group[0].codes).max() == grouped(factor.codes).max():
                group.append(factor)
                break
        else:
            groups.append([factor])
    return tuple(group[0] if len(group) == 1 else _together(group) for group in groups)


def _together(group: Sequence[Factor]) -> Factor:
    codes = grouped(*(factor.codes for factor in group))
    levels = []
    for code in range(codes.max() + 1):
        trial = int(np.argmax(codes == code))
        own = (
            "–" if factor.codes[trial] == ABSENT else factor.levels[factor.codes[trial]] for factor in group
        )
        levels.append(" / ".join(own))
    return Factor(tuple(name for factor in group for name in factor.names), tuple(levels), codes)
