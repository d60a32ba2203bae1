"""The levels of a factor in order, with ties: `jfs > xfs = reiserfs > ext3`.

Two levels are compared where all else is equal: the points that differ in this factor alone, in the same
block, are a pair, and what both share (the load, the block, the machine) drops out of the logarithm of their
ratio. Over the pairs it is:

* where the trials were repeated: averaged over the conditions of each block, so that a block gives one number
  and the blocks are the repetitions. The answer is about these conditions.
* where they were not (fewer than three blocks, as in a table of published results): averaged over
  blocks, so that each condition gives one number and the conditions are the repetitions. The answer is about
  conditions such as these, and the interval holds how much they disagree.

Then the interval and the test are those of any ratio (`analysis.bootstrap`), all pairs of levels are
corrected together (Holm), and levels that are not shown to differ are tied, correctly so where ties are not
transitive (`letters`). A test on ranks over conditions (Friedman's, or Wilcoxon's signed ranks:
Demsar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006) needs at least six of
them for one pair and more after correction, and estimates no size; on logarithms the ratios of different
conditions are of one kind.

Levels of different durability are ranked apart: a level that may lose data has no place above one that may
not.

"Do not differ" is not transitive: a may differ from c while b differs from neither. A compact letter display
gives each level letters so that two levels share one exactly when they are not shown to differ (Piepho, An
Algorithm for a Letter-Based Representation of All-Pairwise Comparisons, Journal of Computational and
Graphical Statistics 13, 2004: insert and absorb).
"""

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from mydyno.core.plurals import counted
from mydyno.lab.analysis.bootstrap import SMALLEST_SAMPLE
from mydyno.lab.analysis.grid import points_with
from mydyno.lab.analysis.holm import holm
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import common_observations, finite
from mydyno.lab.analysis.ratio import Ratio, ratio_of_logs
from mydyno.lab.analysis.standard import Standard, least_durable
from mydyno.lab.results.records import PointRecord, TrialRecord

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


Over = Literal["blocks", "conditions"]
Condition = tuple[str | None, ...]
"""The levels of all other factors."""


@dataclass(frozen=True)
class LevelPair:
    """One level over another, `left` being the better one by its mean."""

    left: str
    right: str
    ratio: Ratio
    """How many times as good: above 1 for the better one whatever the metric. `n` counts repetitions."""
    over: Over
    """What the repetitions are."""
    conditions: int
    """In how many conditions the two were measured side by side."""
    differ: bool


@dataclass(frozen=True)
class Ranking:
    """The levels of `factor`, best first."""

    factor: str
    where: Mapping[str, str]
    """Factor -> the level to which this is limited; empty: over everything."""
    durability: str | None
    """What all of these levels have in common, where others have less or more of it; else None."""
    levels: tuple[str, ...]
    letters: Mapping[str, str]
    """Levels that share one are not shown to differ."""
    pairs: tuple[LevelPair, ...]
    """Every two levels that were measured side by side; a family of tests."""
    display: str
    untested: tuple[str, ...] = ()
    """Levels that were measured side by side with others too seldom for any test; they have no place."""

    @property
    def tested(self) -> bool:
        return any(pair.ratio.p_value is not None for pair in self.pairs)

    @property
    def alone(self) -> bool:
        """No other level has its durability."""
        return len(self.levels) == 1

    @property
    def test(self) -> str:
        """The test that was used, in words."""
        if self.alone:
            return "no test: no other level has the same durability"
        tested = [pair for pair in self.pairs if pair.ratio.p_value is not None]
        if not tested:
            return "no test: every two levels share fewer than three blocks and fewer than three conditions"
        sizes = sorted({pair.ratio.n_left for pair in tested})
        number = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        kinds = sorted({pair.over for pair in tested})
        return (
            f"paired bootstrap-t on logarithms over {number} {' or '.join(kinds)}, "
            f"corrected for {counted(len(tested), 'pair')} (Holm)"
            + (f"; too rarely measured side by side: {', '.join(self.untested)}" if self.untested else "")
        )


def ranking(
    trials: Iterable[TrialRecord],
    points: Sequence[PointRecord],
    factor: str,
    metric: Metric,
    standard: Standard = Standard(),
    where: Mapping[str, str] | None = None,
) -> tuple[Ranking, ...]:
    """The levels of `factor` in order, over the points with the levels of `where`; one ranking for each class
    of durability, and none where there are not two levels that were measured side by side."""
    where = where or {}
    inside = [point for point in points_with(points, where) if factor in point.levels]
    own = {point.point_id for point in inside}
    valid = [trial for trial in trials if trial.status == "valid" and trial.point_id in own]
    table = _table(valid, inside, factor, metric)
    classes = _classes(valid, inside, factor, tuple(table))
    found = (_ranked(factor, where, table, levels, standard) for levels in classes.values())
    rankings = [one for one in found if one is not None]
    if all(one.alone for one in rankings):
        return ()
    if len(classes) > 1:
        labels = {levels: label for label, levels in classes.items()}
        rankings = [
            replace(one, durability=next(labels[own] for own in labels if set(one.levels) <= set(own)))
            for one in rankings
        ]
    return tuple(rankings)


Side = tuple[int, str]
"""Block and host, as `TrialRecord.block_and_host`."""
Table = dict[str, dict[Condition, dict[Side, float]]]
"""Level -> condition -> block -> logarithm of how good; higher is better."""


def _table(valid: Sequence[TrialRecord], points: Sequence[PointRecord], factor: str, metric: Metric) -> Table:
    others = sorted({name for point in points for name in point.levels} - {factor})
    condition = {point.point_id: tuple(point.levels.get(name) for name in others) for point in points}
    level = {point.point_id: point.levels[factor] for point in points}
    sign = 1 if metric.better == "higher" else -1
    by_condition: dict[Condition, list[TrialRecord]] = {}
    for trial in finite(valid, metric):
        by_condition.setdefault(condition[trial.point_id], []).append(trial)
    table: Table = {level[point.point_id]: {} for point in points}
    point_of = {trial.trial_id: trial.point_id for trial in valid}
    for key, alike in by_condition.items():
        for seen in common_observations(alike, metric):
            if seen.value > 0:
                blocks = table[level[point_of[seen.trial_id]]].setdefault(key, {})
                blocks[seen.block] = sign * math.log(seen.value)
    return table


def _classes(
    valid: Sequence[TrialRecord], points: Sequence[PointRecord], factor: str, levels: Sequence[str]
) -> dict[str | None, tuple[str, ...]]:
    """Label of durability -> the levels with it: that of a level's least durable trial."""
    classes: dict[str | None, tuple[str, ...]] = {}
    for level in levels:
        own = {point.point_id for point in points if point.levels[factor] == level}
        label = least_durable(trial for trial in valid if trial.point_id in own)
        classes[label] = (*classes.get(label, ()), level)
    return classes


def _ranked(
    factor: str,
    where: Mapping[str, str],
    table: Table,
    levels: Sequence[str],
    standard: Standard,
) -> Ranking | None:
    if len(levels) == 1:
        (level,) = levels
        return Ranking(factor, dict(where), None, (level,), {level: "a"}, (), level) if table[level] else None
    pairs = [
        pair
        for one, other in combinations(levels, 2)
        if (pair := _pair(one, table[one], other, table[other], standard)) is not None
    ]
    if not pairs:
        return None
    placed = {level for pair in pairs if pair.ratio.p_value is not None for level in (pair.left, pair.right)}
    untested = tuple(level for level in levels if placed and level not in placed)
    pairs = [pair for pair in pairs if not {pair.left, pair.right} & set(untested)]
    adjusted = holm([pair.ratio.p_value for pair in pairs])
    judged = tuple(
        replace(
            pair,
            ratio=replace(pair.ratio, adjusted_p=p, family=sum(each is not None for each in adjusted)),
            differ=p is not None and p <= standard.alpha,
        )
        for pair, p in zip(pairs, adjusted, strict=True)
    )
    order = _order(judged)
    differ = [frozenset((pair.left, pair.right)) for pair in judged if pair.differ]
    shown = display(order, differ)
    return Ranking(factor, dict(where), None, order, letters(order, differ), judged, shown, untested)


def _pair(
    one: str,
    ones: Mapping[Condition, Mapping[Side, float]],
    other: str,
    others: Mapping[Condition, Mapping[Side, float]],
    standard: Standard,
) -> LevelPair | None:
    """None where the two were nowhere measured side by side."""
    logs = {
        (condition, block): value - others[condition][block]
        for condition, blocks in ones.items()
        for block, value in blocks.items()
        if block in others.get(condition, {})
    }
    if not logs:
        return None
    conditions = {condition for condition, _ in logs}
    blocks = {block for _, block in logs}
    whole = [block for block in blocks if all((condition, block) in logs for condition in conditions)]
    over: Over = "blocks" if len(whole) >= SMALLEST_SAMPLE else "conditions"
    if over == "blocks":
        values = [statistics.fmean(logs[each, block] for each in conditions) for block in whole]
    else:
        values = [
            statistics.fmean(value for (each, _), value in logs.items() if each == condition)
            for condition in conditions
        ]
    estimate = ratio_of_logs(values, standard.level)
    left, right = (one, other) if statistics.fmean(values) >= 0 else (other, one)
    if left == other:
        estimate = ratio_of_logs([-value for value in values], standard.level)
    return LevelPair(left, right, estimate, over, len(conditions), differ=False)


def _order(pairs: Sequence[LevelPair]) -> tuple[str, ...]:
    """By the scores whose differences fit the pairs' logarithms best, weighted by how often each was seen:
    the order of the means where every level was measured under every condition."""
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.left, pair.right)))
    place = {name: number for number, name in enumerate(names)}
    weights = np.sqrt([pair.conditions for pair in pairs])
    rows = np.zeros((len(pairs), len(names)))
    for row, pair in enumerate(pairs):
        rows[row, place[pair.left]], rows[row, place[pair.right]] = 1, -1
    logs = np.array([math.log(pair.ratio.value or 1) for pair in pairs])
    scores = np.linalg.lstsq(rows * weights[:, None], logs * weights, rcond=None)[0]
    return tuple(sorted(names, key=lambda name: -round(float(scores[place[name]]), 12)))
