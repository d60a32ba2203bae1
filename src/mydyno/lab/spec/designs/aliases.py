"""Which effects the runs of a design cannot separate, worked out from the runs themselves.

Two effects are aliases when their columns (the product of their factors' signs, run by run) are the same or
opposite. Interactions of three factors and more are taken to be nothing. In Plackett-Burman designs of 12, 20
and 24 runs an interaction is spread over all main effects in small parts: those are summed up.
"""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mydyno.lab.spec.designs.fraction import Signs

Effect = tuple[int, ...]
"""One factor or two, by place."""


def aliases(runs: Signs, names: Sequence[str]) -> tuple[str, ...]:
    """`A = B×C - D×E`: the effect of A as it is seen holds also that of B×C, and that of D×E turned round.

    Main effects first, then the interactions of two factors that are only seen together.
    """
    pairs = list(itertools.combinations(range(len(names)), 2))
    mains = [(place,) for place in range(len(names))]
    sentences: list[str] = []
    taken: set[Effect] = set()
    for one, same in _shared(runs, mains, pairs):
        sentences.append(_sentence(one, same, names))
        taken |= {pair for pair, _ in same}
    sentences += _partly(runs, names)
    for one, same in _shared(runs, pairs, pairs):
        if one not in taken:
            sentences.append(_sentence(one, same, names))
            taken |= {pair for pair, _ in same}
    return tuple(sentences)


def mixes_mains(runs: Signs) -> bool:
    """Whether some interaction of two factors is seen, wholly or in part, in a main effect."""
    pairs = list(itertools.combinations(range(runs.shape[1]), 2))
    return bool(pairs) and bool(
        (_overlap(runs, [(place,) for place in range(runs.shape[1])], pairs) != 0).any()
    )


def _shared(
    runs: Signs, ones: Sequence[Effect], others: Sequence[Effect]
) -> Iterator[tuple[Effect, list[tuple[Effect, int]]]]:
    """Each of `ones` with those after it among `others` that are the same column, and their sign."""
    overlap = _overlap(runs, ones, others)
    for one, row in zip(ones, overlap, strict=True):
        same = [
            (other, int(np.sign(value)))
            for other, value in zip(others, row.tolist(), strict=True)
            if abs(value) == len(runs) and (len(one), one) < (len(other), other)
        ]
        if same:
            yield one, same


def _partly(runs: Signs, names: Sequence[str]) -> Iterator[str]:
    """One sentence for all main effects, which look alike in a Plackett-Burman design."""
    pairs = list(itertools.combinations(range(len(names)), 2))
    overlap = np.abs(_overlap(runs, [(place,) for place in range(len(names))], pairs))
    parts = sorted({value for value in overlap.ravel().tolist() if 0 < value < len(runs)})
    if parts:
        shares = " or ".join(f"{value // 4}/{len(runs) // 4}" for value in parts)
        yield f"each factor = ± {shares} of each interaction of two others"


def _overlap(runs: Signs, ones: Sequence[Effect], others: Sequence[Effect]) -> NDArray[np.int64]:
    return _columns(runs, ones).T @ _columns(runs, others)


def _columns(runs: Signs, effects: Sequence[Effect]) -> NDArray[np.int64]:
    return np.stack([runs[:, list(effect)].prod(axis=1, dtype=np.int64) for effect in effects], axis=1)


def _sentence(one: Effect, same: Sequence[tuple[Effect, int]], names: Sequence[str]) -> str:
    (first, sign), *rest = same
    text = f"{named(one, names)} = {'-' if sign < 0 else ''}{named(first, names)}"
    return text + "".join(f" {'-' if each < 0 else '+'} {named(effect, names)}" for effect, each in rest)


def named(effect: Effect, names: Sequence[str]) -> str:
    """`pool×raid`"""
    return "×".join(names[place] for place in effect)
