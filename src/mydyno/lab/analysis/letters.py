"""Groups of levels that do not differ, where "do not differ" is not transitive.

a may differ from c while b differs from neither. A compact letter display gives each level letters so that
two levels share one exactly when they are not shown to differ (Piepho, An Algorithm for a Letter-Based
Representation of All-Pairwise Comparisons, Journal of Computational and Graphical Statistics 13, 2004: insert
and absorb).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"

Pairs = Collection[frozenset[str]]


def groups(names: Sequence[str], differ: Pairs) -> tuple[tuple[str, ...], ...]:
    """The largest groups of `names` no two of which are in `differ`; in the order of `names`."""
    largest = [frozenset(names)]
    for pair in differ:
        one, other = sorted(pair, key=list(names).index)
        split = [group for group in largest if pair <= group]
        kept = [group for group in largest if not pair <= group]
        for group in split:
            for part in (group - {one}, group - {other}):
                # A group within another adds nothing.
                if not any(part <= each for each in kept):
                    kept = [*(each for each in kept if not each < part), part]
        largest = kept
    ordered = [tuple(name for name in names if name in group) for group in largest]
    place = {name: number for number, name in enumerate(names)}
    return tuple(sorted(ordered, key=lambda group: [place[name] for name in group]))


def letters(names: Sequence[str], differ: Pairs) -> dict[str, str]:
    """Name -> its letters: `{"jfs": "a", "xfs": "ab", "ext3": "b"}`."""
    every = groups(names, differ)
    lettered = list(zip(_letters(len(every)), every, strict=True))
    return {name: "".join(letter for letter, group in lettered if name in group) for name in names}


def display(names: Sequence[str], differ: Pairs) -> str:
    """`jfs > xfs, reiserfs (not distinguishable) > ext3` for `names` in order, best first.

    `>` is printed where each name before it differs from each one after it. Among those that are not
    distinguishable as a group there may be pairs that differ; they are named:
    `jfs, xfs, reiserfs (not distinguishable, but jfs > reiserfs)`.
    """
    tiers: list[list[str]] = []
    for place, name in enumerate(names):
        before = names[:place]
        behind = names[place:]
        cut = all(frozenset((one, other)) in differ for one in before for other in behind)
        if cut:
            tiers.append([name])
        else:
            tiers[-1].append(name)
    return " > ".join(_tier(tier, differ) for tier in tiers)


def _tier(tier: Sequence[str], differ: Pairs) -> str:
    if len(tier) == 1:
        return tier[0]
    pairs = [f"{one} > {other}" for one, other in combinations(tier, 2) if frozenset((one, other)) in differ]
    but = f", but {', '.join(pairs)}" if pairs else ""
    return f"{', '.join(tier)} (not distinguishable{but})"


def _letters(count: int) -> list[str]:
    """a to z, then (a1), (b1)..."""
    return [
        _ALPHABET[number % 26] if number < 26 else f"({_ALPHABET[number % 26]}{number // 26})"
        for number in range(count)
    ]
