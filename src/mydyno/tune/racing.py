"""Who is stopped and who leads: tests on the logarithm of a candidate's ratio to its heat's leader. Pure.

In each round a candidate and the leader are measured next to each other, and the ratio of the two is one
observation. Their spread is taken as the same for all candidates and pooled over the whole search, together
with a first guess that counts as much as a few observations: so a candidate of one round can be judged. That
is Student's t with a pooled variance; it assumes that ratios are about log-normal and equally noisy.

    stopped   the upper end of the one-sided 95% interval lies below 1: it is worse than the leader
    leads     after two rounds or more, the lower end lies above 1: it is better

Both are looked at after every round without a correction: a candidate that is stopped by chance costs the
search one candidate, one that leads by chance is measured again with every heat after it, and neither is
reported: what is reported is confirmed in a separate experiment.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scipy import stats

GUESS_SD, GUESS_WEIGHT = 0.05, 4
"""5%, counted as five observations of one candidate."""
LEVEL = 0.95
_LEAST_TO_LEAD = 2


@dataclass(frozen=True)
class Noise:
    """Standard deviation of the logarithm of one ratio, and its degrees of freedom."""

    sd: float
    df: int

    def half_width(self, n: int) -> float:
        """Of the one-sided interval of a mean of `n` ratios."""
        return float(stats.t.ppf(LEVEL, self.df)) * self.sd / math.sqrt(n)


def pooled(groups: Iterable[Sequence[float]]) -> Noise:
    """From the logarithms of each candidate's ratios."""
    squares, df = GUESS_WEIGHT * GUESS_SD**2, GUESS_WEIGHT
    for group in groups:
        if len(group) > 1:
            squares += statistics.variance(group) * (len(group) - 1)
            df += len(group) - 1
    return Noise(math.sqrt(squares / df), df)


def is_worse(logs: Sequence[float], noise: Noise) -> bool:
    return bool(logs) and statistics.fmean(logs) + noise.half_width(len(logs)) < 0


def is_better(logs: Sequence[float], noise: Noise) -> bool:
    return len(logs) >= _LEAST_TO_LEAD and statistics.fmean(logs) - noise.half_width(len(logs)) > 0
