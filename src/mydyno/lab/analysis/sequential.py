"""Looking at the data after every block and stopping when they suffice, with intervals that stay valid.

An interval that is computed after every trial until it looks good is not a 95% interval
any more: of 18 looks, after 3 trials to after 20, one shows a difference that does not exist in 23 of 100
experiments. Stopping when the interval is short enough errs too, though less: it is short where the spread
happened to come out small (Chow and Robbins, On the Asymptotic Theory of Fixed-Width Sequential Confidence
Intervals for the Mean, Annals of Mathematical Statistics 36, 1965, show that this vanishes as the required
width goes to 0, not before).

The remedy is that of group-sequential trials: every look uses the same, higher level, so high that the
intervals of all looks hold the truth together in 95 of 100 experiments (Pocock, Group Sequential Methods in
the Design and Analysis of Clinical Trials, Biometrika 64, 1977; as intervals: Jennison and Turnbull, Interim
Analyses: The Repeated Confidence Interval Approach, JRSS B 51, 1989). The interval at which one stops is
then among them, whatever the reason for stopping was.

Guaranteed: the coverage of the final interval of one comparison is at least the requested level, for
independent, normal repetitions. It is more where the run stops early by a rule of width.
"""

import functools
import math

import numpy as np
from numpy.typing import NDArray

from mydyno.lab.analysis.bootstrap import LEVEL, SMALLEST_SAMPLE

_SEED = 1_977
_PATHS = 200_000
_CHUNK = 20_000

_KNOWN: dict[int, str] = {
    3: "9697 9773 9814 9839 9857 9870 9880 9888 9895 9901 9905 9909 9913 9916 9919 9921 9923 "
    "9926 9927 9929 9931 9932 9934 9935 9936 9937 9938",
    4: "9674 9750 9792 9820 9840 9855 9866 9875 9883 9889 9894 9899 9903 9906 9910 9912 9915 "
    "9917 9920 9921 9923 9925 9927 9928 9929 9931",
    5: "9659 9733 9776 9805 9826 9842 9854 9864 9872 9879 9885 9890 9895 9899 9902 9905 9908 "
    "9911 9913 9915 9917 9919 9921 9923 9924",
    6: "9644 9717 9761 9790 9812 9829 9842 9852 9861 9869 9875 9881 9886 9890 9894 9898 9901 "
    "9904 9906 9908 9911 9913 9915 9917",
    8: "9630 9698 9741 9771 9794 9811 9825 9837 9846 9854 9862 9868 9873 9878 9882 9886 9890 "
    "9893 9896 9899 9901 9903",
    10: "9619 9683 9724 9754 9777 9795 9810 9822 9832 9841 9848 9855 9861 9866 9871 9875 9879 9882 9886 9889",
}
"""First look -> the level, in parts of 10,000, for one look more than that, two more... up to at_most = 30:
`simulated` with 2,000,000 paths, rounded up."""


def nominal_level(first_look: int, at_most: int, level: float = LEVEL) -> float:
    """The level of each interval so that all together, one after each of the trials `first_look` to
    `at_most` of each point, hold the truth with probability `level`.

    At once for the usual arguments, within seconds for others. With a single look it is `level`.
    Raises ValueError unless 3 <= first_look <= at_most.
    """
    if not SMALLEST_SAMPLE <= first_look <= at_most:
        raise ValueError(f"looks from {first_look} to {at_most}: an interval needs {SMALLEST_SAMPLE} trials")
    if first_look == at_most:
        return level
    known = _KNOWN.get(first_look, "").split()
    further = at_most - first_look
    if level == LEVEL and further <= len(known):
        return int(known[further - 1]) / 10_000
    return simulated(first_look, at_most, level)


def looks(first_look: int, at_most: int) -> int:
    """How often the data may be looked at."""
    return at_most - first_look + 1


@functools.lru_cache(maxsize=16)
def simulated(first_look: int, at_most: int, level: float = LEVEL, paths: int = _PATHS) -> float:
    """`nominal_level` by simulation: the quantile of the smallest p-value that Student's t test has at any
    look, over `paths` runs without a difference. Rounded up; the same for the same arguments."""
    smallest = np.concatenate(
        [_smallest_p(first_look, at_most, part)[:, -1] for part in range(math.ceil(paths / _CHUNK))]
    )
    return _up(1 - float(np.quantile(smallest, 1 - level)))


def _smallest_p(first_look: int, at_most: int, part: int) -> NDArray[np.float64]:
    """Path x look: the smallest p-value up to that look."""
    values = np.random.default_rng([_SEED, first_look, part]).standard_normal((_CHUNK, at_most))
    n = np.arange(1, at_most + 1)
    mean = np.cumsum(values, axis=1) / n
    squares = np.cumsum(values**2, axis=1) - n * mean**2
    looked = slice(first_look - 1, None)
    freedom = n[looked] - 1
    t = np.abs(mean[:, looked]) / np.sqrt(squares[:, looked] / freedom / n[looked])
    from scipy import special

    smallest: NDArray[np.float64] = np.minimum.accumulate(2 * special.stdtr(freedom, -t), axis=1)
    return smallest


def _up(level: float) -> float:
    return math.ceil(level * 10_000) / 10_000
