"""Regular fractions of two-level factorials, 2^(k-p): half of the points, a quarter; and
Plackett-Burman designs.

The first k - p factors make all combinations; each further one is set by a product of some of them (its
generator). What products are chosen decides which effects are mixed. Searched for are those of maximum
resolution (the shortest product that is always the same is as long as can be) and among them of minimum
aberration (and as few are so short as can be).

The run with every factor at its first level is always one of them, so that there is something to compare
with. Its price is a sign: a product of three factors that is constant is then -1.

Sources: G. E. P. Box and J. S. Hunter, The 2^(k-p) Fractional Factorial Designs, Technometrics 3, 1961;
G. E. P. Box, J. S. Hunter and W. G. Hunter, Statistics for Experimenters, 2nd ed., 2005, chapter 6 (the table
of generators); A. Fries and W. G. Hunter, Minimum Aberration 2^(k-p) Designs, Technometrics 22, 1980. The
lengths of words come from the weights of the runs (F. J. MacWilliams and N. J. A. Sloane, The Theory of
Error-Correcting Codes, 1977, chapter 5).

Plackett-Burman designs have k factors of two levels in the next multiple of four above k runs.

Main effects are estimated each from all runs, and independent of each other; interactions of two factors are
mixed into them. For finding the few factors that matter among many.

Source: R. L. Plackett and J. P. Burman, The Design of Optimum Multifactorial Experiments, Biometrika 33,
1946. The first rows below are theirs; the further rows are that one turned, and the last has low levels only.
"""

import functools
import math

import numpy as np
from numpy.typing import NDArray

Signs = NDArray[np.int8]
"""Run x factor: -1 for the first level, +1 for the second."""

_FIRST_ROWS = {
    4: "++-",
    8: "+++-+--",
    12: "++-+++---+-",
    16: "++++-+-++--+---",
    20: "++--++++-+-+----++-",
    24: "+++++-+-++--++--+-+----",
}
MOST_SCREENED = max(_FIRST_ROWS) - 1


def plackett_burman(factors: int) -> Signs:
    """The runs for 2 to 23 factors, the one with every factor at its first level among them."""
    runs = next(size for size in _FIRST_ROWS if size > factors)
    first = np.array([1 if sign == "+" else -1 for sign in _FIRST_ROWS[runs]], dtype=np.int8)
    turned = [np.roll(first, places) for places in range(runs - 1)]
    every: Signs = np.vstack([*turned, np.full(runs - 1, -1, dtype=np.int8)])
    return every[:, :factors]


MOST_FACTORS = 23
MOST_WORDS = 31
"""Words of a defining relation that are listed."""
_KEPT = 40
"""Unfinished sets of generators that the search goes on with, of different word lengths each."""

Numbers = NDArray[np.int64]


@functools.lru_cache(maxsize=64)
def generators(factors: int, halvings: int) -> tuple[int, ...]:
    """For each generated factor the set of first factors whose product it is, as bits (1: the first of them).

    2 <= factors - halvings, and factors < 2^(factors - halvings). Adds one generator after the other and goes
    on with the best ones: of equal word lengths one, since they hardly ever are different designs.
    """
    free = factors - halvings
    candidates = np.array([column for column in range(2**free) if column.bit_count() > 1])
    base = [1 << place for place in range(free)]
    found: list[tuple[int, ...]] = [()]
    for _ in range(halvings):
        ranked: dict[tuple[int, ...], tuple[int, ...]] = {}
        for chosen in found:
            weights = sum((_bits(free, column) for column in (*base, *chosen)), np.zeros(2**free, np.int64))
            left = candidates[~np.isin(candidates, chosen)]
            letters = free + len(chosen) + 1
            for column, lengths in zip(left.tolist(), _lengths(free, weights, left, letters), strict=True):
                ranked.setdefault(lengths, (*chosen, column))
        found = [ranked[lengths] for lengths in sorted(ranked)[:_KEPT]]
    return found[0]


def fraction(factors: int, halvings: int) -> Signs:
    """The runs, in the order in which the last free factor varies fastest."""
    free = factors - halvings
    # The first factor varies slowest, so it is the highest bit of a run's number.
    base = [1 << (free - 1 - place) for place in range(free)]
    columns = [*base, *(_spread(mask, base) for mask in generators(factors, halvings))]
    runs: Signs = np.stack([2 * _bits(free, column) - 1 for column in columns], axis=1).astype(np.int8)
    return runs


def words(factors: int, halvings: int) -> list[tuple[int, ...]]:
    """The defining relation: sets of factors (by place) whose product is constant, the shortest first."""
    free = factors - halvings
    generating = [mask | 1 << (free + place) for place, mask in enumerate(generators(factors, halvings))]
    relation = [0]
    for word in generating:
        relation += [each ^ word for each in relation]
    sets = (tuple(place for place in range(factors) if word >> place & 1) for word in relation[1:])
    return sorted(sets, key=lambda word: (len(word), word))


def _spread(mask: int, base: list[int]) -> int:
    return sum(bit for place, bit in enumerate(base) if mask >> place & 1)


def _bits(free: int, columns: int | Numbers) -> Numbers:
    """The level, 0 or 1, of a factor with this column in every run: the parity of the bits that both have."""
    runs = np.arange(2**free)
    levels: Numbers = np.bitwise_count(np.asarray(columns)[..., None] & runs).astype(np.int64) & 1
    return levels


def _lengths(free: int, weights: Numbers, columns: Numbers, letters: int) -> list[tuple[int, ...]]:
    """For each column that is added: how many words have 3 letters, 4, 5... The fewer short ones the better.

    `weights`: how many factors are at their second level in each run, before; `letters`: how many factors
    there are then.
    """
    with_it = weights + _bits(free, columns)
    counts = np.stack([(with_it == weight).sum(axis=1) for weight in range(letters + 1)], axis=1)
    return [tuple(row) for row in _words_by_length(counts, free)]


def _words_by_length(counts: Numbers, free: int) -> list[list[int]]:
    letters = counts.shape[1] - 1
    table = np.array(
        [
            [_krawtchouk(length, weight, letters) for length in range(3, letters + 1)]
            for weight in range(letters + 1)
        ]
    )
    found: list[list[int]] = ((counts @ table) >> free).tolist()
    return found


@functools.lru_cache(maxsize=4096)
def _krawtchouk(length: int, weight: int, letters: int) -> int:
    return sum(
        (-1) ** both * math.comb(weight, both) * math.comb(letters - weight, length - both)
        for both in range(min(weight, length) + 1)
    )
