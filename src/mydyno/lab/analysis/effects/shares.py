"""Sizes of effects as parts of their sum with the noise, with intervals.

A share is generalised omega squared (S. Olejnik and J. Algina, Generalized Eta and Omega Squared Statistics,
Psychological Methods 8, 2003): an effect's mean squared size over the sum of those of all effects and of the
variance of the noise in every stratum, each estimated without what noise adds to it, so that with few trials
an effect of nothing has a share near 0. A negative estimate counts as 0; all shares with the noise sum to 1.

Intervals are generalised confidence intervals (S. Weerahandi, Generalized Confidence Intervals, JASA 88,
1993): sizes and noise as they may truly be, given the sums of squares that were seen, through one formula.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mydyno.lab.analysis.bootstrap import LEVEL, Interval
from mydyno.lab.analysis.effects.algebra import Numbers
from mydyno.lab.analysis.effects.variance import Component, Variance


class Shares:
    def __init__(self, variance: Variance) -> None:
        self._variance = variance
        self._whole = sum(each.size for each in variance.components) + (variance.noise or 0.0)

    def of(self, component: Component) -> tuple[float, Interval | None]:
        """Its share, 0 to 1, and the interval of it."""
        share, drawn = component.size / self._whole, component.drawn
        return share, None if drawn is None else self._between(drawn, share)

    @property
    def noise(self) -> tuple[float | None, Interval | None]:
        """The share of what no effect explains; None where it is not known."""
        variance = self._variance
        if variance.noise is None or variance.noise_drawn is None:
            return None, None
        share = variance.noise / self._whole
        return share, self._between(variance.noise_drawn(), share)

    @cached_property
    def _drawn(self) -> Numbers | None:
        """Of the whole; None where a part of it has no draws."""
        if self._variance.noise_drawn is None:
            return None
        whole = self._variance.noise_drawn()
        for component in self._variance.components:
            if (drawn := component.drawn) is None:
                return None
            whole = whole + drawn
        return whole

    def _between(self, drawn: Numbers, share: float) -> Interval | None:
        """It holds the share itself, which at the edge of what can be the draws may miss."""
        if self._drawn is None:
            return None
        low, high = np.quantile(drawn / self._drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Interval(float(min(low, share)), float(max(high, share)))
