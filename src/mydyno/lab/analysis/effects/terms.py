"""Which effects the trials can separate, and the space of each.

Main effects and interactions of two are adjusted for all others that do not contain them (type II; F. Yates,
The Analysis of Multiple Classifications with Unequal Numbers in the Different Classes, JASA 29, 1934), for
blocks, and, if it changes inside them, for whole plots: on balanced trials that changes nothing, and where
trials are missing it compares like with like.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mydyno.lab.analysis.effects.layout import (
    ABSENT,
    Factor,
    Flags,
    Layout,
    Numbers,
    basis,
    beyond,
    extended,
    grouped,
    indicators,
    squared_length,
)
from mydyno.lab.results.records import DesignPoints

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Term:
    """One effect. `space`: orthonormal columns, a row for each trial."""

    factors: tuple[str, ...]
    """One name: a main effect; two: an interaction; none: all that is beyond, together."""
    space: Numbers
    scale: Numbers
    """From the directions of `space` to the effect at each cell, so scaled that lengths stay what they are
    where every combination was measured equally often."""
    also: tuple[Pair, ...] = ()
    """Interactions that are the same contrast in these trials, so that they cannot be separated."""

    @property
    def degrees(self) -> int:
        return int(self.space.shape[1])

    def weight(self, values: Numbers) -> float:
        """The size of the effect in a table of all levels (where it applies) over that in these trials, of
        which some are missing."""
        seen = self.space.T @ values
        length = float(np.sum(seen**2))
        return float(np.sum((self.scale @ seen) ** 2)) / length if length else 1.0


@dataclass(frozen=True)
class Terms:
    mains: tuple[Term, ...]
    pairs: tuple[Term, ...]
    beyond: Term
    """Differences between points that neither main effects nor pairs account for; perhaps of no column."""
    confounded: tuple[Term, ...]
    """Main effects of no column: others (blocks among them) account for all of their levels."""
    nuisance: Numbers
    """Blocks, orthonormal: all terms are orthogonal to them."""
    up_to: tuple[Numbers, Numbers, Numbers]
    """Orthonormal, whatever the blocks: the mean and main effects; with pairs; with all that is beyond."""


def terms_of(layout: Layout, design: DesignPoints) -> Terms:
    own = indicators(layout.blocks)
    if own.shape[1] == layout.trials:
        own = np.ones((layout.trials, 1))  # a block for each trial would account for everything
    nuisance = basis(own)
    shared = [nuisance]
    for plots in layout.plots:
        shared.append(extended(shared[-1], indicators(plots)))
    columns: dict[tuple[str, ...], Numbers] = {
        (factor.name,): indicators(factor.codes) for factor in layout.factors
    }
    simple = np.hstack([np.ones((layout.trials, 1)), *columns.values()])
    if design == "all":
        columns |= {
            (one.name, other.name): indicators(grouped(one.codes, other.codes))
            for one, other in itertools.combinations(layout.factors, 2)
        }
    terms = [
        _term(names, own, _adjusted(own, _without(names, columns), shared), _applies(names, layout))
        for names, own in columns.items()
    ]
    mains = [term for term in terms if len(term.factors) == 1]
    pairs = [term for term in terms if len(term.factors) == 2 and term.degrees]
    paired = np.hstack([simple, *columns.values()])
    if design == "fraction":
        pairs = _aliased_pairs(layout, basis(np.hstack([nuisance, simple])))
        paired = np.hstack([simple, *(term.space for term in pairs)])
    cells = indicators(grouped(*(factor.codes for factor in layout.factors)))
    return Terms(
        mains=tuple(term for term in mains if term.degrees),
        pairs=tuple(pairs),
        beyond=_term((), cells, _adjusted(cells, paired, shared), np.ones(layout.trials, dtype=bool)),
        confounded=tuple(term for term in mains if not term.degrees),
        nuisance=nuisance,
        up_to=(basis(simple), basis(paired), basis(np.hstack([cells, paired]))),
    )


def _applies(names: tuple[str, ...], layout: Layout) -> Flags:
    """The trials in which all of the factors `names` have a level."""
    chosen = [factor.codes != ABSENT for factor in layout.factors if factor.name in names]
    return np.asarray(np.all(chosen, axis=0))


def _term(
    names: tuple[str, ...], own: Numbers, space: Numbers, applies: Flags, also: tuple[Pair, ...] = ()
) -> Term:
    cells = own[:, own[applies].any(axis=0)]
    solved = np.linalg.pinv(space.T @ cells) if space.shape[1] else np.empty((cells.shape[1], 0))
    return Term(names, space, solved * float(np.sum(applies) / cells.shape[1]) ** 0.5, also)


def _without(names: tuple[str, ...], columns: Mapping[tuple[str, ...], Numbers]) -> Numbers:
    """The columns of all effects that do not contain the one of `names`."""
    others = [own for other, own in columns.items() if not set(names) <= set(other)]
    return np.hstack([*others, np.ones((columns[names].shape[0], 1))])


def _adjusted(own: Numbers, others: Numbers, shared: Sequence[Numbers]) -> Numbers:
    """What `own` adds to `others` inside the smallest groups of trials in which all of it can be seen.

    `shared` spans the groups, from blocks to the smallest whole plots.
    """
    whole = beyond(own, extended(shared[0], others))
    for groups in reversed(shared[1:]):
        inside = beyond(own, extended(groups, others))
        if inside.shape[1] == whole.shape[1]:
            return inside
    return whole


def _aliased_pairs(layout: Layout, mains: Numbers) -> list[Term]:
    """Interactions of two that are not aliases of main effects; those of one contrast as one term."""
    groups: list[tuple[list[Pair], Numbers, Numbers]] = []
    for one, other in itertools.combinations(layout.factors, 2):
        cells = indicators(grouped(one.codes, other.codes))
        space = beyond(cells, mains)
        if not space.shape[1]:
            continue
        touching = [group for group in groups if squared_length(group[2], space) > 1e-6]
        groups = [group for group in groups if all(group is not each for each in touching)]
        named = [*(pair for pairs, _, _ in touching for pair in pairs), (one.name, other.name)]
        first = touching[0][1] if touching else cells
        groups.append((named, first, basis(np.hstack([*(own for _, _, own in touching), space]))))
    every = np.ones(layout.trials, dtype=bool)
    return [_term(named[0], cells, space, every, tuple(named[1:])) for named, cells, space in groups]


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
