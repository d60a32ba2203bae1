"""The noise of one kind of value (a trial's mean, its differences between places) by stratum, and tests:
against which error an effect is to be tested.

Trials of a whole plot share what was built for it, and trials of a block their hour. So the noise has a part
for each block, one for each whole plot and one for each trial. A factor that changes from plot to plot meets
the plots' noise, however many trials each plot holds: to test it against the noise between trials is the
classical error of split-plot experiments.

Each stratum's mean square and what every sum of squares contains of each part (its expected mean square) are
computed from the trials as they are, so that the error of an effect is the combination of mean squares that
contains what it contains. On balanced trials that is the mean square of the effect's stratum, and the test is
the textbook's (Box, Hunter and Hunter, Statistics for Experimenters, 2nd edition 2005, chapter 9). Where
trials are missing it is a combination of several, with the degrees of freedom of F. E. Satterthwaite, An
Approximate Distribution of Estimates of Variance Components, Biometrics Bulletin 2, 1946; the method of C. R.
Henderson, Estimation of Variance and Covariance Components, Biometrics 9, 1953 (his third).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mydyno.lab.analysis.effects.layout import (
    Codes,
    Layout,
    Numbers,
    beyond,
    extended,
    indicators,
    squared_length,
)


@dataclass(frozen=True)
class Stratum:
    name: str
    """`blocks`, `whole plots` or `trials`."""
    groups: Codes
    """What shares its noise."""
    space: Numbers | None
    """Orthonormal: what the stratum adds to all effects and the strata before it. None for the last one, the
    trials, which is whatever is left."""
    known: Numbers
    """Orthonormal: all effects and the strata before it."""

    @property
    def degrees(self) -> int:
        rows, columns = self.known.shape
        return int(rows - columns if self.space is None else self.space.shape[1])

    def part(self, values: Numbers) -> Numbers:
        """The part of `values` (a row for each trial) that lies in this stratum."""
        if self.space is None:
            return values - self.known @ (self.known.T @ values)
        return self.space @ (self.space.T @ values)

    def share_of(self, space: Numbers) -> float:
        """How often one degree of freedom of `space` contains the variance of this stratum's groups."""
        if self.space is None:
            return 1.0
        return float(np.sum((indicators(self.groups).T @ space) ** 2) / space.shape[1])


class Strata:
    """The parts of the noise of one arrangement of trials."""

    def __init__(self, layout: Layout, nuisance: Numbers, effects: Numbers) -> None:
        """`nuisance`: the blocks; `effects`: the mean and everything else that is not noise."""
        self.all: list[Stratum] = []
        held, known = 0, effects
        for number, codes in enumerate((layout.blocks, *layout.plots)):
            groups = codes.max()
            if held < groups < layout.trials - 1:
                space = beyond(indicators(codes), known)
                self.all.append(Stratum("whole plots" if number else "blocks", codes, space, known))
                held = groups
            # Effects are looked at within blocks; between blocks only the mean is.
            known = extended(known, indicators(codes)) if number else extended(nuisance, effects)
        self.all.append(Stratum("trials", np.arange(layout.trials), None, known))
        self._expected = np.array([self._contents(place) for place in range(len(self.all))])

    @property
    def repetitions(self) -> int:
        """Degrees of freedom of trials that say nothing but how much trials differ."""
        return self.all[-1].degrees

    def _contents(self, place: int) -> list[float]:
        """What one degree of freedom of a stratum contains of each one's noise; 0 of earlier ones."""
        of = self.all[place]
        if of.space is None or not of.degrees:
            return [float(of is one and of.space is None) for one in self.all]
        return [0.0] * place + [one.share_of(of.space) for one in self.all[place:]]

    def weights(self, space: Numbers) -> Numbers | None:
        """Of each stratum's mean square in the error of `space`; None where none has the same contents."""
        return self._combined(np.array([one.share_of(space) for one in self.all]))

    def total_weights(self) -> Numbers | None:
        """Of each stratum's mean square in the noise of a single trial, as far as strata can be measured."""
        return self._combined(np.array([float(one.degrees > 0) for one in self.all]))

    def _combined(self, wanted: Numbers) -> Numbers | None:
        usable = np.array([one.degrees > 0 for one in self.all])
        if not usable.any():
            return None
        found, *_ = np.linalg.lstsq(self._expected[usable].T, wanted, rcond=None)
        if not np.allclose(self._expected[usable].T @ found, wanted, atol=1e-6):
            return None
        weights = np.zeros(len(self.all))
        weights[usable] = np.where(np.abs(found) < 1e-9, 0.0, found)
        return weights


DRAWS = 4000
"""Of the noise, for intervals: enough that their ends wobble by less than a tenth of their width."""
_SEED = 20_080_403


@dataclass(frozen=True)
class FTest:
    """A sum of squares against its error."""

    sum_of_squares: float
    degrees: int
    error: float | None
    """Its mean square; None, as all that follows, where no error of it can be had."""
    error_degrees: float | None
    p_value: float | None
    draw: Callable[[], Numbers] | None
    """Gives DRAWS of `size` as it may truly be."""

    @property
    def size(self) -> float:
        """Sum of squares without what noise adds to it, as far as that is known; may be negative."""
        return self.sum_of_squares - self.degrees * (self.error or 0.0)

    @property
    def f(self) -> float | None:
        """None where it would be without end."""
        return None if not self.error else self.sum_of_squares / self.degrees / self.error


class Errors:
    """Mean squares of noise with their degrees of freedom."""

    def __init__(self, mean_squares: Sequence[float], degrees: Sequence[float], epsilons: Sequence[float]):
        """`epsilons`: what is left of a degree of freedom where differences between places are unequally
        noisy or hang together (see `sphericity`)."""
        self.mean_squares, self.degrees = np.array(mean_squares), np.array(degrees)
        self.epsilons = np.array(epsilons)

    @classmethod
    def within(cls, strata: Strata, values: Numbers) -> Errors:
        """Of `values`: a row for each trial, a column for each contrast between places (or one alone)."""
        parts = [one.part(values) for one in strata.all]
        degrees = [float(one.degrees * values.shape[1]) for one in strata.all]
        squares = [float(np.sum(part**2)) for part in parts]
        return cls(
            [square / df if df else 0.0 for square, df in zip(squares, degrees, strict=True)],
            degrees,
            [sphericity(part) for part in parts],
        )

    @cached_property
    def drawn(self) -> Numbers:
        """The mean squares as their true values may be, DRAWS of each."""
        random = np.random.default_rng(_SEED)
        effective = np.maximum(self.degrees * self.epsilons, 1e-9)
        chi_squared = random.chisquare(effective[:, None], (effective.size, DRAWS))
        return np.asarray((self.mean_squares * effective)[:, None] / np.maximum(chi_squared, 1e-12))

    def noise(self, weights: Numbers | None) -> float | None:
        """A combination of mean squares, never below 0."""
        return None if weights is None else max(float(weights @ self.mean_squares), self._floor(weights))

    def noise_drawn(self, weights: Numbers) -> Numbers:
        return np.maximum(weights @ self.drawn, self._floor(weights))

    def _floor(self, weights: Numbers) -> float:
        """A combination with negative weights may come out at nothing, which no noise is."""
        return 1e-6 * float(np.max(np.abs(weights) * self.mean_squares, initial=0.0))

    def degrees_of(self, weights: Numbers) -> float:
        """Of a combination of mean squares (Satterthwaite)."""
        parts = weights * self.mean_squares
        known = self.degrees > 0
        spread = float(np.sum(parts[known] ** 2 / self.degrees[known]))
        if spread == 0:
            return float(self.degrees[np.argmax(np.abs(weights))])
        return float(np.sum(parts)) ** 2 / spread

    def test(self, space: Numbers, values: Numbers, weights: Numbers | None, turn: int) -> FTest:
        """The effect whose orthonormal columns are `space`. `turn` gives each effect separate draws."""
        found = squared_length(space, values)
        degrees = space.shape[1] * values.shape[1]
        error = self.noise(weights)
        if weights is None or error is None:
            return FTest(found, degrees, None, None, None, None)
        error_degrees = self.degrees_of(weights)
        epsilon = float(self.epsilons[np.argmax(np.abs(weights * self.mean_squares))])
        if error == 0:
            p = 0.0 if found > 0 else None
        else:
            from scipy import special  # Loaded where it is needed: it takes long.

            p = float(special.fdtrc(degrees * epsilon, error_degrees * epsilon, found / degrees / error))

        def draw() -> Numbers:
            drawn = self.noise_drawn(weights)
            normal = np.random.default_rng([_SEED, turn]).standard_normal(DRAWS)
            return drawn * _excess(found, drawn, degrees, normal)

        return FTest(found, degrees, error, error_degrees, p, draw)


def _excess(found: float, error: Numbers, degrees: float, normal: Numbers) -> Numbers:
    """Noncentralities that a sum of squares `found` may have had, in units of each of the `error` draws.

    Solved from the noncentral chi squared distribution's first two moments, degrees + excess and
    2 degrees + 4 excess, at a normal deviate; 0 where even none at all would have given more.
    """
    ratio = found / np.maximum(error, 1e-300)
    root = 4 * normal**2 + 4 * ratio - 2 * degrees
    width = np.sqrt(np.maximum(root, 0)) - 2 * normal
    excess = (width**2 - 2 * degrees) / 4
    return np.where((root > 0) & (width > 0), np.maximum(excess, 0.0), 0.0)


def sphericity(noise: Numbers) -> float:
    """Share of the degrees of freedom that differences between places have, 0 to 1.

    The noise of a trial at neighbouring numbers of connections hangs together, and is larger at some than at
    others; an F test that takes it for equal and independent is too eager. Source: S. W. Greenhouse and
    S. Geisser, On Methods in the Analysis of Profile Data, Psychometrika 24, 1959 (Box's epsilon of the
    observed covariances: cautious when there are few degrees of freedom).
    """
    covariance = noise.T @ noise
    squares = float(np.sum(covariance**2))
    return float(np.trace(covariance)) ** 2 / (covariance.shape[0] * squares) if squares > 0 else 1.0


FEWEST = 7
"""Contrasts that the median is to be taken of: those of eight runs, Lenth's smallest case."""


def lenth_error(contrasts: Numbers) -> tuple[float, float]:
    """(mean square, degrees of freedom) from orthogonal contrasts, each of one degree of freedom.

    The pseudo standard error: 1.5 times the median size of the contrasts, those left out that are beyond 2.5
    times a first such guess. Its square is the mean square; degrees of freedom are a third of the contrasts.
    """
    sizes = np.abs(contrasts)
    guess = 1.5 * np.median(sizes)
    kept = sizes[sizes < 2.5 * guess]
    error = 1.5 * np.median(kept) if kept.size else guess
    return float(error**2), contrasts.size / 3
