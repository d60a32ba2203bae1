"""Which of several things cannot be told apart, when "cannot be told apart" is not transitive.

a may differ from c while b differs from neither. A compact letter display gives each thing letters so that
two things share one exactly when they cannot be told apart (Piepho, An Algorithm for a Letter-Based
Representation of All-Pairwise Comparisons, Journal of Computational and Graphical Statistics 13, 2004: insert
and absorb).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"

Pairs = Collection[frozenset[str]]


def groups(things: Sequence[str], differ: Pairs) -> tuple[tuple[str, ...], ...]:
    """The largest groups of `things` no two of which are in `differ`; in the order of the things."""
    found = [frozenset(things)]
    for pair in differ:
        one, other = sorted(pair, key=list(things).index)
        split = [group for group in found if pair <= group]
        kept = [group for group in found if not pair <= group]
        for group in split:
            for part in (group - {one}, group - {other}):
                # A group within another says nothing of its own.
                if not any(part <= each for each in kept):
                    kept = [*(each for each in kept if not each < part), part]
        found = kept
    ordered = [tuple(thing for thing in things if thing in group) for group in found]
    place = {thing: number for number, thing in enumerate(things)}
    return tuple(sorted(ordered, key=lambda group: [place[thing] for thing in group]))


def letters(things: Sequence[str], differ: Pairs) -> dict[str, str]:
    """Thing -> its letters: `{"jfs": "a", "xfs": "ab", "ext3": "b"}`."""
    found = groups(things, differ)
    named = zip(_names(len(found)), found, strict=True)
    told = [(letter, frozenset(group)) for letter, group in named]
    return {thing: "".join(letter for letter, group in told if thing in group) for thing in things}


def display(things: Sequence[str], differ: Pairs) -> str:
    """`jfs > xfs, reiserfs (not distinguishable) > ext3` for things in order, best first.

    `>` stands where each thing before it differs from each one behind it. Among those that are not
    distinguishable as a group there may be pairs that differ; they are named:
    `jfs, xfs, reiserfs (not distinguishable, but jfs > reiserfs)`.
    """
    tiers: list[list[str]] = []
    for place, thing in enumerate(things):
        before = things[:place]
        behind = things[place:]
        cut = all(frozenset((one, other)) in differ for one in before for other in behind)
        if cut:
            tiers.append([thing])
        else:
            tiers[-1].append(thing)
    return " > ".join(_tier(tier, differ) for tier in tiers)


def _tier(tier: Sequence[str], differ: Pairs) -> str:
    if len(tier) == 1:
        return tier[0]
    pairs = [f"{one} > {other}" for one, other in combinations(tier, 2) if frozenset((one, other)) in differ]
    but = f", but {', '.join(pairs)}" if pairs else ""
    return f"{', '.join(tier)} (not distinguishable{but})"


def _names(count: int) -> list[str]:
    """a to z, then (a1), (b1)..."""
    return [
        _ALPHABET[number % 26] if number < 26 else f"({_ALPHABET[number % 26]}{number // 26})"
        for number in range(count)
    ]
