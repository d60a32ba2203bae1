"""The analysis of variance of one arrangement of trials: every effect with its size, its error and its test.

A trial's values at its places (numbers of connections) are split into their mean and the differences between
places. Effects of factors show in the means, effects of the places and their interactions with factors in the
differences; both have separate errors, by stratum, since blocks and whole plots may be better at many
connections as well as better altogether.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from mydyno.lab.analysis.bootstrap import LEVEL, Interval
from mydyno.lab.analysis.effects.errors import FEWEST, Errors, FTest, Strata, lenth_error
from mydyno.lab.analysis.effects.layout import Layout, Numbers, squared_length
from mydyno.lab.analysis.effects.terms import Pair, Term, contrasts, terms_of
from mydyno.lab.results.records import DesignPoints

ErrorSource = Literal["repetitions", "interaction", "lenth", "none"]
"""Where the noise is taken from: trials of one point; the interaction of the highest order, taken for noise;
most contrasts, taken for noise (Lenth); from nowhere."""

_FEW = 3
"""Repetitions beyond the first of each point; with fewer than these, interactions of three factors and more
are the better estimate of the noise, where there are some."""

PLACE = ""
"""Stands for the places of a trial in the factors of an effect."""


@dataclass(frozen=True)
class Component:
    """One effect."""

    factors: tuple[str, ...]
    """One: a main effect; two: an interaction; none: all others together."""
    also: tuple[Pair, ...]
    tests: tuple[FTest, ...]
    """More than one only where several were put together."""
    weights: tuple[float, ...]
    """Of each of them in the size (see `Term`)."""

    @property
    def size(self) -> float:
        weighed = zip(self.tests, self.weights, strict=True)
        return max(sum(test.size * weight for test, weight in weighed), 0.0)

    @property
    def p_value(self) -> float | None:
        """None of several together."""
        return self.tests[0].p_value if len(self.tests) == 1 else None

    @cached_property
    def drawn(self) -> Numbers | None:
        """Sizes as they may truly be; None where noise is not known."""
        weighed = zip(self.tests, self.weights, strict=True)
        draws = [test.draw() * weight for test, weight in weighed if test.draw is not None]
        return np.sum(draws, axis=0) if len(draws) == len(self.tests) else None


@dataclass(frozen=True)
class Variance:
    """Sizes are sums of squares: of all trials and places together."""

    components: tuple[Component, ...]
    noise: float | None
    """None where it is not known; sizes then hold noise too."""
    noise_drawn: Callable[[], Numbers] | None


class Arrangement:
    """All that does not depend on the measured values, so that many measurements can be analysed."""

    def __init__(self, layout: Layout, design: DesignPoints, places: int = 1) -> None:
        self.layout, self.places = layout, places
        self.terms = terms_of(layout, design)
        self.strata = Strata(layout, self.terms.nuisance, self.terms.up_to[2])
        self.source: ErrorSource = "repetitions"
        self.taken_for_noise: tuple[Term, ...] = ()
        """Of the means of trials where there is one place, else of the differences between places."""
        few = self.strata.repetitions < _FEW and places == 1 and self.terms.beyond.degrees > 0
        if not self.strata.repetitions or few:
            self._do_without()

    def _do_without(self) -> None:
        terms = self.terms
        highest = (terms.beyond,) if terms.beyond.degrees else terms.pairs
        if self.places > 1:
            self.source, self.taken_for_noise = "interaction", highest or terms.mains
        elif not self.strata.repetitions and self.lenth_columns.shape[1] >= FEWEST:
            self.source = "lenth"
        elif highest:
            self.source, self.taken_for_noise = "interaction", highest
            kept = terms.up_to[1 if terms.beyond.degrees else 0]
            self.strata = Strata(self.layout, terms.nuisance, kept)
        else:
            self.source = "none"

    @cached_property
    def lenth_columns(self) -> Numbers:
        if any(np.unique(factor.codes).size != 2 for factor in self.layout.factors):
            return np.empty((self.layout.trials, 0))
        return contrasts(self.layout.factors, self.terms.nuisance)

    @cached_property
    def tested(self) -> tuple[tuple[Term, Numbers | None], ...]:
        """Effects of the means, with the weights of their error."""
        alone = self.taken_for_noise if self.places == 1 else ()
        return tuple((term, self.weights(term.space)) for term in self._all() if term not in alone)

    @cached_property
    def by_place(self) -> tuple[tuple[Term, Numbers | None], ...]:
        """Effects of the differences between places: of each term, and of the places themselves."""
        if self.places == 1:
            return ()
        mean = Term((), np.full((self.layout.trials, 1), self.layout.trials**-0.5), np.ones((1, 1)))
        terms = [mean, *(term for term in self._all() if term not in self.taken_for_noise)]
        return tuple((term, self.weights(term.space)) for term in terms)

    def _all(self) -> Iterator[Term]:
        yield from self.terms.mains
        yield from self.terms.pairs
        if self.terms.beyond.degrees:
            yield self.terms.beyond

    def weights(self, space: Numbers) -> Numbers | None:
        """Of the mean squares of `Errors` in the error of `space`."""
        return self.strata.weights(space) if self._by_stratum else np.ones(1)

    @property
    def _by_stratum(self) -> bool:
        """Otherwise there is one error for everything."""
        return self.source in ("repetitions", "none") or (self.source == "interaction" and self.places == 1)

    def analyse(self, logs: Numbers) -> Variance:
        """`logs`: a row for each trial, a column for each place."""
        means, differences = apart(logs)
        between, within = self._errors(means, differences)
        components = [
            Component(
                term.factors,
                term.also,
                (between.test(term.space, means, weights, turn),),
                (term.weight(means),),
            )
            for turn, (term, weights) in enumerate(self.tested)
        ]
        others = [components.pop()] if components and not components[-1].factors else []
        for turn, (term, weights) in enumerate(self.by_place, len(self.tested)):
            test = within.test(term.space, differences, weights, turn)
            weight = (term.weight(differences),)
            if len(term.factors) == 1 or turn == len(self.tested):
                components.append(Component((*term.factors, PLACE), (), (test,), weight))
            else:
                others.append(Component((), (), (test,), weight))
        if others:
            tests, shares = zip(*((one.tests[0], one.weights[0]) for one in others), strict=True)
            components.append(Component((), (), tests, shares))
        total = self.strata.total_weights() if self._by_stratum else np.ones(1)
        noise, apart_noise = between.noise(total), within.noise(total)
        if total is None or noise is None or apart_noise is None:
            return Variance(tuple(components), None, None)
        trials, extra = self.layout.trials, self.places - 1
        return Variance(
            tuple(components),
            trials * (noise + extra * apart_noise),
            lambda: trials * (between.noise_drawn(total) + extra * within.noise_drawn(total)),
        )

    def _errors(self, means: Numbers, differences: Numbers) -> tuple[Errors, Errors]:
        if self._by_stratum:
            return Errors.within(self.strata, means), Errors.within(self.strata, differences)
        error, degrees = self._single_error(means, differences)
        one = Errors([error], [degrees], [1.0])
        return one, one

    def _single_error(self, means: Numbers, differences: Numbers) -> tuple[float, float]:
        """(mean square, degrees of freedom) for every effect, where trials are not repeated."""
        if self.source == "lenth":
            return lenth_error(self.lenth_columns.T @ means)
        squares = sum(squared_length(term.space, differences) for term in self.taken_for_noise)
        degrees = float(sum(term.degrees for term in self.taken_for_noise) * (self.places - 1))
        return squares / degrees, degrees

    def common_error(self, logs: Numbers) -> tuple[float, float] | None:
        """(mean square, degrees of freedom) of a single value; None where errors differ by stratum."""
        return None if self._by_stratum else self._single_error(*apart(logs))


def apart(logs: Numbers) -> tuple[Numbers, Numbers]:
    """(means, differences): an orthogonal transformation of each row, so that lengths are kept."""
    places = logs.shape[1]
    full, _ = np.linalg.qr(np.column_stack([np.ones(places), np.eye(places)[:, : places - 1]]))
    turned = logs @ (full * np.sign(full[0, 0]))
    return turned[:, :1], turned[:, 1:]


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
