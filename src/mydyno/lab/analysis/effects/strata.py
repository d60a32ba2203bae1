"""Error strata: against which error an effect is to be tested.

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

from dataclasses import dataclass

import numpy as np

from mydyno.lab.analysis.effects.algebra import Codes, Numbers, beyond, extended, indicators
from mydyno.lab.analysis.effects.layout import Layout


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
