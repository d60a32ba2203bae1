"""Which effects the trials can tell apart, and the space of each.

Main effects and interactions of two are adjusted for all others that do not contain them (type II; F. Yates,
The Analysis of Multiple Classifications with Unequal Numbers in the Different Classes, JASA 29, 1934): on
balanced trials that changes nothing, and where trials are missing it compares like with like.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mydyno.analysis.effects.algebra import Numbers, basis, beyond, grouped, indicators, squared_length
from mydyno.analysis.effects.layout import Factor, Layout
from mydyno.results.records import DesignPoints

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Term:
    """One effect. `space`: orthonormal columns, a row for each trial."""

    factors: tuple[str, ...]
    """One name: a main effect; two: an interaction; none: all that is beyond, together."""
    space: Numbers
    also: tuple[Pair, ...] = ()
    """Interactions that are the same contrast of these trials: nobody can tell which of them it is."""

    @property
    def degrees(self) -> int:
        return int(self.space.shape[1])


@dataclass(frozen=True)
class Terms:
    mains: tuple[Term, ...]
    pairs: tuple[Term, ...]
    beyond: Term
    """Differences between points that neither main effects nor pairs account for; perhaps of no column."""
    confounded: tuple[Term, ...]
    """Main effects of no column: others (blocks among them) account for all of their levels."""
    nuisance: Numbers
    """Blocks, orthonormal: every term is orthogonal to them."""
    up_to: tuple[Numbers, Numbers, Numbers]
    """Orthonormal, whatever the blocks: the mean and main effects; with pairs; with all that is beyond."""


def terms_of(layout: Layout, design: DesignPoints) -> Terms:
    own = indicators(layout.blocks)
    if own.shape[1] == layout.trials:
        own = np.ones((layout.trials, 1))  # a block for each trial would account for everything
    nuisance = basis(own)
    columns: dict[tuple[str, ...], Numbers] = {
        (factor.name,): indicators(factor.codes) for factor in layout.factors
    }
    simple = np.hstack([np.ones((layout.trials, 1)), *columns.values()])
    if design == "all":
        columns |= {
            (one.name, other.name): indicators(grouped(one.codes, other.codes))
            for one, other in itertools.combinations(layout.factors, 2)
        }
    found = [Term(names, _adjusted(names, columns, nuisance)) for names in columns]
    mains = [term for term in found if len(term.factors) == 1]
    pairs = [term for term in found if len(term.factors) == 2 and term.degrees]
    paired = np.hstack([simple, *columns.values()])
    if design == "fraction":
        pairs = _aliased_pairs(layout.factors, basis(np.hstack([nuisance, simple])))
        paired = np.hstack([simple, *(term.space for term in pairs)])
    cells = indicators(grouped(*(factor.codes for factor in layout.factors)))
    return Terms(
        mains=tuple(term for term in mains if term.degrees),
        pairs=tuple(pairs),
        beyond=Term((), beyond(cells, basis(np.hstack([nuisance, paired])))),
        confounded=tuple(term for term in mains if not term.degrees),
        nuisance=nuisance,
        up_to=(basis(simple), basis(paired), basis(np.hstack([cells, paired]))),
    )


def _adjusted(names: tuple[str, ...], columns: dict[tuple[str, ...], Numbers], nuisance: Numbers) -> Numbers:
    others = [own for other, own in columns.items() if not set(names) <= set(other)]
    return beyond(columns[names], basis(np.hstack([nuisance, *others])))


def _aliased_pairs(factors: Sequence[Factor], mains: Numbers) -> list[Term]:
    """The interactions of two that are no main effect's alias; those of one contrast as one term."""
    groups: list[tuple[list[Pair], Numbers]] = []
    for one, other in itertools.combinations(factors, 2):
        space = beyond(indicators(grouped(one.codes, other.codes)), mains)
        if not space.shape[1]:
            continue
        pair = (one.name, other.name)
        touching = [group for group in groups if squared_length(group[1], space) > 1e-6]
        groups = [group for group in groups if all(group is not each for each in touching)]
        together = basis(np.hstack([*(own for _, own in touching), space]))
        groups.append(([*(pair for named, _ in touching for pair in named), pair], together))
    return [Term(named[0], space, tuple(named[1:])) for named, space in groups]


def contrasts(factors: Sequence[Factor], nuisance: Numbers) -> Numbers:
    """All orthogonal contrasts of factors of two levels, main effects first, each of length 1.

    Products of columns of +1 and -1; a product that an earlier one is an alias of, even in part, is left out.
    """
    signs = [np.where(factor.codes == factor.codes.max(), 1.0, -1.0) for factor in factors]
    kept = np.empty((nuisance.shape[0], 0))
    for size in range(1, len(signs) + 1):
        for chosen in itertools.combinations(signs, size):
            column = np.prod(chosen, axis=0)[:, None]
            column = column - nuisance @ (nuisance.T @ column)
            length = np.linalg.norm(column)
            if length > 1e-6 and squared_length(kept, column / length) < 1e-6:
                kept = np.hstack([kept, column / length])
            if kept.shape[1] == nuisance.shape[0] - nuisance.shape[1]:
                return kept
    return kept
