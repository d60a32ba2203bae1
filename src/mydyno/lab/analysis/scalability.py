"""The Universal Scalability Law, fitted to the throughput of one point against its load.

    X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))

(Gunther, *Guerrilla Capacity Planning*, 2007, chapters 4 to 6; first in *A Simple Capacity Model of Massively
Parallel Transaction Systems*, CMG 1993.) lambda is the throughput of one connection, sigma the share of the
work for which connections queue (contention), kappa what it costs that each must agree with each other
(coherency). With kappa > 0 throughput has a peak, at N* = sqrt((1 - sigma) / kappa).

Fitted are the logarithms, since noise in a benchmark is proportional, by least squares with lambda > 0,
0 <= sigma <= 1 and kappa >= 0.

The interval of N* is found by inverting a test: a number c is in it when the trials do not contradict
"the peak is at c". For each c the law is fitted with its peak held there; what is left over of each trial,
in the direction in which a move of the peak would bend the curve, is one number a trial (a score: Rao, Large
Sample Tests of Statistical Hypotheses, 1948), and c is kept while the mean of these numbers does not differ
from 0. So a whole trial is one observation (the block that is resampled), and what its phases share, drift
or autocorrelation, is in the error. The quantile comes from the smoothed bootstrap-t of `bootstrap`, over
trials. Where the data do not rule out kappa = 0 the interval has no upper end: no optimum is shown.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mydyno.lab.analysis.bootstrap import SMALLEST_SAMPLE, Interval, Numbers, mean_estimate

FEWEST_LOADS = 4
"""Three numbers of connections are met exactly by a law of three parameters."""
MISFIT = 0.01
"""The law is rejected when its lack of fit is as unlikely as this."""
LEVEL_WITHIN = 0.03
"""A fitted curve that changes less than this over all loads has no optimum worth a name."""

Outcome = Literal["optimum", "open", "rising", "falling", "level", "misfit"]
"""`optimum`: within the measured loads. `open`: there by the fit, but the trials do not rule out that
throughput goes on rising. `rising`, `falling`: beyond the last load, before the first. `level`: the curve
hardly changes. `misfit`: the law does not describe these trials."""

_FINEST = 0.001
"""No benchmark repeats itself closer than to a thousandth: a law that is as near as this is not rejected
because some trials, by chance or by rounding, are all alike."""
_NOTHING = 1e-4
"""A term that moves the curve by less than this is not there."""
_FARTHEST = 1e6
"""A peak at so many times the last load is one at infinity."""
_EDGE = 1e-9
_STEPS = 60


@dataclass(frozen=True)
class Law:
    """`one`: the throughput at a load of 1 (lambda)."""

    one: float
    contention: float
    coherency: float

    def at(self, load: float) -> float:
        return self.one * load / (1 + self.contention * (load - 1) + self.coherency * load * (load - 1))

    @property
    def peak(self) -> float:
        """The load N* at which throughput is highest: infinite when it never falls, 0 when it only falls."""
        if self.contention >= 1 - _EDGE:
            return 0.0
        return math.sqrt((1 - self.contention) / self.coherency) if self.coherency > 0 else math.inf


@dataclass(frozen=True)
class Scalability:
    law: Law
    loads: tuple[int, ...]
    """At which it was fitted, rising."""
    n: int
    """Trials."""
    outcome: Outcome
    low: float | None
    """Ends of the 95% interval of the peak's load. None with fewer than three trials; `high` is infinite
    where a peak is not shown."""
    high: float | None
    peak_interval: Interval | None
    """Of the throughput at the peak. None also where the peak is not within the loads."""
    misfit_p: float | None
    """Of "the law describes the means" (F test of the lack of fit against the pure error, which is what
    differs between the trials of a load beyond the trials' own levels; Draper and Smith, Applied Regression
    Analysis, 1998, 2.1). None with fewer than two trials."""

    @property
    def optimum(self) -> float:
        return self.law.peak


def scalability(loads: Sequence[int], trials: Sequence[Sequence[float]]) -> Scalability | None:
    """The law of `trials`, each with its throughput at each of `loads` (rising, from 1 on; all above 0).

    None with fewer than four loads or no trial.
    """
    if len(loads) < FEWEST_LOADS or not trials:
        return None
    logs = np.log(np.asarray(trials, dtype=np.float64))
    curve = _Curve(np.asarray(loads, dtype=np.float64), logs)
    law = curve.fitted()
    enough = len(trials) >= SMALLEST_SAMPLE
    low, high = curve.interval(law) if enough else (None, None)
    p = curve.misfit(law)
    outcome = _outcome(law, loads, high, p)
    inside = enough and outcome in ("optimum", "open")
    return Scalability(
        law=law,
        loads=tuple(loads),
        n=len(trials),
        outcome=outcome,
        low=low,
        high=high,
        peak_interval=curve.peak_interval(law) if inside else None,
        misfit_p=p,
    )


def _outcome(law: Law, loads: Sequence[int], high: float | None, misfit_p: float | None) -> Outcome:
    if misfit_p is not None and misfit_p < MISFIT:
        return "misfit"
    highest = law.at(min(max(law.peak, loads[0]), loads[-1]))
    if highest / min(law.at(loads[0]), law.at(loads[-1])) < 1 + LEVEL_WITHIN:
        return "level"
    if law.peak <= loads[0]:
        return "falling"
    if law.peak >= loads[-1]:
        return "rising"
    return "open" if high == math.inf else "optimum"


class _Curve:
    """The logarithms of the trials' throughput, a row a trial and a column a load."""

    def __init__(self, loads: Numbers, logs: Numbers) -> None:
        self.loads, self.logs = loads, logs
        self.mean = logs.mean(axis=0)
        self.queue = loads - 1
        self.pairs = loads * (loads - 1)

    def fitted(self) -> Law:
        """From where a straight line in N / X begins: X's inverse is linear in 1 / lambda, sigma / lambda and
        kappa / lambda."""
        inverse = self.loads / np.exp(self.mean)
        terms = np.stack([np.ones_like(self.loads), self.queue, self.pairs], axis=1)
        one, queue, pairs = np.linalg.lstsq(terms / inverse[:, None], np.ones_like(inverse), rcond=None)[0]
        one = max(one, inverse.min() / self.loads.max())
        start = [-math.log(one), min(max(queue / one, 1e-6), 0.999), max(pairs / one, 1e-12)]

        def left(of: Numbers) -> Numbers:
            return np.asarray(self._law(of[0], of[1], of[2]) - self.mean)

        def slopes(of: Numbers) -> Numbers:
            return self._slopes(of[1], of[2])

        # Here, since it takes long to load and many a run has no curve.
        from scipy.optimize import least_squares

        found = least_squares(
            left,
            start,
            jac=slopes,
            bounds=([-np.inf, 0, 0], [np.inf, 1, np.inf]),
            x_scale="jac",
            ftol=1e-12,
            xtol=1e-12,
            gtol=1e-12,
        ).x
        # The search stops just short of a bound: what moves the curve by nothing to speak of is put on it.
        contention, coherency = float(found[1]), float(found[2])
        contention = 1.0 if contention > 1 - _NOTHING else contention
        contention = 0.0 if contention * self.queue[-1] < _NOTHING else contention
        drag = 1 + contention * self.queue[-1]
        coherency = 0.0 if coherency * self.pairs[-1] < _NOTHING * drag else coherency
        log_one = float((self.mean - self._law(0.0, contention, coherency)).mean())
        return Law(math.exp(log_one), contention, coherency)

    def _law(self, log_one: float, contention: float, coherency: float) -> Numbers:
        drag = 1 + contention * self.queue + coherency * self.pairs
        return np.asarray(log_one + np.log(self.loads) - np.log(drag))

    def _slopes(self, contention: float, coherency: float) -> Numbers:
        """Of the logarithm, by (log lambda, sigma, kappa)."""
        drag = 1 + contention * self.queue + coherency * self.pairs
        return np.stack([np.ones_like(drag), -self.queue / drag, -self.pairs / drag], axis=1)

    def misfit(self, law: Law) -> float | None:
        trials, loads = self.logs.shape
        within = self.logs - self.logs.mean(axis=1, keepdims=True) - self.mean + self.mean.mean()
        freedom = (trials - 1) * (loads - 1)
        if freedom == 0:
            return None
        pure = max(float((within**2).sum()) / freedom, _FINEST**2)
        left = self.mean - self._of(law)
        free = 1 + (0 < law.contention < 1) + (law.coherency > 0)
        lack = trials * float((left**2).sum()) / (loads - free)
        from scipy import special

        return float(special.fdtrc(loads - free, freedom, lack / pure))

    def _of(self, law: Law) -> Numbers:
        return self._law(math.log(law.one), law.contention, law.coherency)

    def peak_interval(self, law: Law) -> Interval | None:
        """Each trial's own peak, by how its residuals would move the fit (linearised): their mean is the
        fit's peak, their spread its error."""
        slopes = self._slopes(law.contention, law.coherency)
        free = [0, 2] if law.contention == 0 else [0, 1, 2]
        moves = np.linalg.pinv(slopes[:, free])
        n = law.peak
        drag = 1 + law.contention * (n - 1) + law.coherency * n * (n - 1)
        # At the peak itself a move of N* changes nothing: only the parameters count.
        by = np.array([1.0, -(n - 1) / drag, -n * (n - 1) / drag])[free]
        own = math.log(law.at(n)) + (self.logs - self._of(law)) @ (by @ moves)
        found = mean_estimate(own.tolist()).interval
        if found is None:
            return None
        low, high = np.exp([found.low, found.high])
        return Interval(float(low), float(high), found.level)

    def interval(self, law: Law) -> tuple[float, float]:
        """Loads from which and up to which the trials do not contradict a peak there; from 1 to infinity at
        most. Where the fit has no peak within these, it is taken to be at that end."""
        peak = min(max(law.peak, 1.0), _FARTHEST * float(self.loads[-1]))
        critical = self._critical(peak)

        def beyond(log_load: float) -> float:
            return abs(self._t(math.exp(log_load))) - critical

        at, farthest = math.log(peak), math.log(_FARTHEST * float(self.loads[-1]))
        return math.exp(_first_crossing(beyond, at, 0.0)), (
            math.inf
            if abs(self._t(math.inf)) <= critical
            else math.exp(_first_crossing(beyond, at, farthest))
        )

    def _critical(self, peak: float) -> float:
        """The 95% quantile of |t| over resampled trials."""
        scores = self._scores(peak)
        estimate = mean_estimate(scores.tolist())
        if estimate.interval is None or not estimate.standard_error:
            return 0.0
        return (estimate.interval.high - estimate.value) / estimate.standard_error

    def _t(self, peak: float) -> float:
        scores = self._scores(peak)
        error = float(scores.std(ddof=1)) / math.sqrt(scores.size)
        mean = float(scores.mean())
        # Trials that are all alike contradict whatever they are not.
        return mean / error if error > 1e-12 else math.copysign(math.inf, mean) if abs(mean) > 1e-9 else 0.0

    def _scores(self, peak: float) -> Numbers:
        """For each trial, how its curve differs from the law with that peak, along the bend that a moved peak
        would make."""
        bend = np.zeros_like(self.pairs) if math.isinf(peak) else self.pairs / peak**2
        contention = self._contention(bend)
        drag = 1 + bend + contention * (self.queue - bend)
        direction = _centred(self.pairs / drag)
        if _EDGE < contention < 1 - _EDGE:
            along = _centred((self.queue - bend) / drag)
            direction = direction - along * (direction @ along) / (along @ along)
        left = self.logs - np.log(self.loads) + np.log(drag)
        return np.asarray((left - left.mean()) @ (direction / np.linalg.norm(direction)))

    def _contention(self, bend: Numbers) -> float:
        """The sigma between 0 and 1 that fits best where kappa = (1 - sigma) / peak^2: Gauss-Newton, each
        step halved until it helps."""
        contention = 0.1

        def left(of: float) -> Numbers:
            drag = 1 + bend + of * (self.queue - bend)
            return _centred(self.mean - np.log(self.loads) + np.log(drag))

        rest = left(contention)
        for _ in range(_STEPS):
            drag = 1 + bend + contention * (self.queue - bend)
            slope = _centred((self.queue - bend) / drag)
            step = -float(slope @ rest) / float(slope @ slope)
            wanted = min(max(contention + step, 0.0), 1.0)
            found = left(wanted)
            while found @ found > rest @ rest and abs(wanted - contention) > _EDGE:
                wanted = (wanted + contention) / 2
                found = left(wanted)
            if abs(wanted - contention) <= _EDGE:
                break
            contention, rest = wanted, found
        return _on_bound(contention)


def _centred(values: Numbers) -> Numbers:
    return np.asarray(values - values.mean())


def _on_bound(contention: float) -> float:
    """What is next to 0 or 1 is it."""
    return 0.0 if contention < 1e-7 else 1.0 if contention > 1 - 1e-7 else float(contention)


def _first_crossing(beyond: Callable[[float], float], inside: float, outside: float) -> float:
    """The first place from `inside` towards `outside` where `beyond` is positive; `outside` if nowhere."""
    from scipy.optimize import brentq

    steps = 48
    last = inside
    for step in range(1, steps + 1):
        # Fine near the fit, where the end mostly is, and coarse far from it.
        at = inside + (outside - inside) * (step / steps) ** 2
        if beyond(at) > 0:
            return float(brentq(beyond, last, at, xtol=1e-4)) if beyond(last) <= 0 else last
        last = at
    return outside
