"""How far each level of a factor is from the factor's average, and the means behind an interaction.

Means are adjusted for what trials of one level have more of (another factor's levels, blocks): least squares,
as if every combination had been measured equally often.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mydyno.lab.analysis.bootstrap import LEVEL, Interval
from mydyno.lab.analysis.effects.errors import Errors
from mydyno.lab.analysis.effects.layout import ABSENT, Codes, Factor, Numbers, grouped, indicators
from mydyno.lab.analysis.effects.variance import Arrangement
from mydyno.lab.analysis.observations import Place

_WIDEST = 50.0
"""Of half an interval, as a logarithm."""


@dataclass(frozen=True)
class LevelRatio:
    """A level against the geometric mean over the levels of its factor, or against the baseline."""

    level: str
    value: float | None
    """None where the trials cannot separate it from other factors."""
    interval: Interval | None
    n: int
    """Trials at this level."""


@dataclass(frozen=True)
class CellMean:
    """A mean in the metric's unit. The interval is of its distance from the other means, not of its height:
    noise that all of them share, such as that of blocks, is not in it."""

    level: str
    """Of the factor that is drawn as lines."""
    at: str | Place
    """Level of the other factor, or the place."""
    value: float
    interval: Interval | None
    n: int


class Means:
    """Contrasts between means of one experiment's log values."""

    def __init__(self, arrangement: Arrangement, logs: Numbers) -> None:
        self._arrangement, self._logs = arrangement, logs
        self._layout = arrangement.layout
        self._means = logs.mean(axis=1, keepdims=True)
        self._common = arrangement.common_error(logs)

    def levels(self, factor: Factor, baseline: int | None = None) -> tuple[LevelRatio, ...]:
        """Each level over the geometric mean of all; over the level `baseline` where there is one."""
        return tuple(
            LevelRatio(level, *self._ratio(row, self._means), n=int(np.sum(factor.codes == code)))
            for code, (level, row) in enumerate(
                zip(factor.levels, self._contrasts(factor.codes, len(factor.levels), baseline), strict=True)
            )
        )

    def places(self, places: Sequence[Place]) -> tuple[LevelRatio, ...]:
        """Each place over the geometric mean of all."""
        mean = np.full(self._layout.trials, 1 / self._layout.trials)
        return tuple(
            LevelRatio(
                str(place),
                *self._ratio(mean, self._logs[:, [column]] - self._means),
                n=self._layout.trials,
            )
            for column, place in enumerate(places)
        )

    def cells(self, lines: Factor, other: Factor) -> tuple[CellMean, ...]:
        """Means at each combination of levels that was measured."""
        codes = grouped(lines.codes, other.codes)
        rows = self._contrasts(codes, int(codes.max()) + 1, None, without=(lines, other))
        found = []
        for code, row in enumerate(rows):
            here = np.flatnonzero(codes == code)
            line, at = lines.codes[here[0]], other.codes[here[0]]
            if row is None or ABSENT in (line, at):
                continue
            middle, interval = self._mean(row, self._means, float(np.mean(self._means)))
            found.append(CellMean(lines.levels[line], other.levels[at], middle, interval, here.size))
        return tuple(found)

    def by_place(self, lines: Factor, places: Sequence[Place]) -> tuple[CellMean, ...]:
        """Means of each level at each place."""
        rows = self._contrasts(lines.codes, len(lines.levels), None)
        means = []
        for column, place in enumerate(places):
            values = self._logs[:, [column]]
            for code, row in enumerate(rows):
                if row is not None:
                    middle, interval = self._mean(row, values, float(np.mean(values)))
                    n = int(np.sum(lines.codes == code))
                    means.append(CellMean(lines.levels[code], place, middle, interval, n))
        return tuple(means)

    def _mean(self, row: Numbers, values: Numbers, middle: float) -> tuple[float, Interval | None]:
        difference, half = self._estimate(row, values)
        at = middle + difference
        interval = None if half is None else Interval(math.exp(at - half), math.exp(at + half))
        return math.exp(at), interval

    def _ratio(self, row: Numbers | None, values: Numbers) -> tuple[float | None, Interval | None]:
        if row is None:
            return None, None
        value, half = self._estimate(row, values)
        if half is None or not np.any(row):
            return math.exp(value), None
        return math.exp(value), Interval(math.exp(value - half), math.exp(value + half))

    def _estimate(self, row: Numbers, values: Numbers) -> tuple[float, float | None]:
        """(a contrast of trials' values, half its interval's width), both of logarithms."""
        value, length = float((row @ values)[0]), float(np.linalg.norm(row))
        if length == 0:
            return 0.0, None
        weights = self._arrangement.weights((row / length)[:, None])
        errors = self._errors(values)
        error = errors.noise(weights)
        if weights is None or error is None:
            return value, None
        from scipy import special  # Loaded where it is needed: it takes long.

        t = float(special.stdtrit(errors.degrees_of(weights), (1 + LEVEL) / 2))
        half = t * length * math.sqrt(error)
        # Next to no degrees of freedom: an interval over thousands of orders of magnitude is none.
        return value, half if half < _WIDEST else None

    def _errors(self, values: Numbers) -> Errors:
        """Of the very values, so that a place that is noisier than others has the wider interval."""
        if self._common is None:
            return Errors.within(self._arrangement.strata, values)
        mean, degrees = self._common
        share = 1 / self._logs.shape[1] if values is self._means else 1.0
        return Errors([mean * share], [degrees], [1.0])

    def _contrasts(
        self, codes: Codes, levels: int, baseline: int | None, without: Sequence[Factor] = ()
    ) -> list[Numbers | None]:
        """For each level the trials' weights in its distance from the average level (or the baseline)."""
        others = [
            indicators(factor.codes)
            for factor in self._layout.factors
            if factor.codes is not codes and not any(factor is each for each in without)
        ]
        own = np.asarray(codes[:, None] == np.arange(levels)[None, :], dtype=np.float64)
        absent = np.asarray(codes == ABSENT, dtype=np.float64)[:, None]
        columns = np.hstack([own, absent, self._arrangement.terms.nuisance, *others])
        solved = np.linalg.pinv(columns)
        wanted = np.zeros((levels, columns.shape[1]))
        wanted[:, :levels] = np.eye(levels)
        wanted[:, :levels] -= 1 / levels if baseline is None else np.eye(levels)[baseline]
        rows = wanted @ solved
        missed = np.abs(rows @ columns - wanted).max(axis=1)
        return [row if miss < 1e-6 else None for row, miss in zip(rows, missed.tolist(), strict=True)]
