"""The levels of each factor that has three or more, in order with ties: over everything, and in each level
of the other factors; and what the source concluded, next to what its numbers show.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mydyno.core.factors import last_part
from mydyno.core.plurals import counted
from mydyno.lab.analysis.claims import JudgedClaim, State, Step, judged_claims
from mydyno.lab.analysis.ranking import Ranking, ranking
from mydyno.lab.analysis.words import primary_metric
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.report.views.outliers import Flagged, named, without
from mydyno.lab.results.records import PointRecord, TrialRecord
from mydyno.page.format import interval, number, ratio

_SAID: dict[State, tuple[str, str]] = {
    "holds": ("holds", "hold"),
    "tie": ("is a tie", "are ties"),
    "reversed": ("is the other way round", "are the other way round"),
    "not measured": ("was never measured side by side", "were never measured side by side"),
}
"""Of one pair, of several."""


@dataclass(frozen=True)
class ClaimView:
    about: str
    """`filesystem, machine = Intel K1104`"""
    said: str
    """In the source's words."""
    found: str
    """The order that the trials show: `JFS > XFS > ReiserFS = ext3`."""
    test: str
    agrees: bool
    summary: str
    """`agrees`, or how many of its pairs hold, are ties, are the other way round."""
    reasons: tuple[str, ...]
    """A sentence for every two levels of the claim of which it does not hold, and how the source may have
    come to it. Of a claim about two levels its size."""


def claims_view(evidence: Evidence) -> tuple[ClaimView, ...]:
    experiment = evidence.experiment
    if not experiment.claims:
        return ()
    metric = primary_metric(evidence.valid, experiment.work)
    judged = judged_claims(experiment.claims, evidence.trials, experiment.compared_points, metric)
    return tuple(map(_view, judged))


def _view(judged: JudgedClaim) -> ClaimView:
    claim = judged.claim
    where = [f"{last_part(factor)} = {level}" for factor, level in claim.where.items()]
    return ClaimView(
        about=", ".join([last_part(claim.factor), *where]),
        said=claim.said,
        found="; ".join(one.display for one in judged.found) or "nothing: no two were measured side by side",
        test="; ".join(dict.fromkeys(one.test for one in judged.found)),
        agrees=judged.agrees,
        summary=_summary(judged),
        reasons=(
            *(_reason(step) for step in judged.steps if step.state != "holds" or len(judged.steps) == 1),
            *_plain(judged),
        ),
    )


def _summary(judged: JudgedClaim) -> str:
    if judged.agrees:
        return "agrees"
    counts = Counter(step.state for step in judged.steps)
    parts = [f"{counts[state]} {verbs[counts[state] > 1]}" for state, verbs in _SAID.items() if counts[state]]
    return f"of {counted(len(judged.steps), 'pair')} {', '.join(parts)}"


def _reason(step: Step) -> str:
    pair = step.pair
    if pair is None:
        return f"{step.better} and {step.worse} were never measured side by side"
    found = pair.ratio
    size = f"{pair.left} is {ratio(found.value)} as good as {pair.right}"
    repetitions = f"over {found.n_left} {pair.over if found.n_left != 1 else pair.over[:-1]}"
    if found.interval is None:
        return f"{size} {repetitions}: too few"
    error = f"(95% CI {interval(found.interval.low, found.interval.high, ratio)}, {repetitions})"
    if step.state != "tie":
        return f"{size} {error}"
    return f"{size} {error}: {step.better} and {step.worse} are not distinguishable"


def _plain(judged: JudgedClaim) -> list[str]:
    """How the source may have come to its order, where it is not what was found."""
    plain = judged.plain
    if judged.agrees or plain is None or plain.order != judged.claim.order:
        return []
    order = (
        f"{' > '.join(plain.order)} is the order of the plain means over all trials, whatever else differed"
    )
    if plain.lone is None:
        return [f"{order} between them"]
    lone = plain.lone
    factors = ", ".join(
        f"{last_part(name)} = {level}"
        for name, level in lone.trial.levels.items()
        if name != judged.claim.factor and name not in judged.claim.where
    )
    return [
        f"{order} between them; a single trial decides it: {lone.trial.trial_id} ({lone.level}, {factors}) "
        f"has {number(lone.value, 4)}, and no other level was measured under these conditions; without it "
        "the order of the means is "
        f"{' > '.join(lone.without)}"
    ]


FEWEST_LEVELS = 3
"""Two levels have a verdict, which says more."""


@dataclass(frozen=True)
class Rank:
    ranking: Ranking
    metric: str
    """What it is about, in words."""
    without: str | None
    """The order without the flagged trials, where it is another one."""

    @property
    def scope(self) -> str:
        """`machine = webserver`, `all`, `all, durable`"""
        where = (
            ", ".join(f"{last_part(name)} = {level}" for name, level in self.ranking.where.items()) or "all"
        )
        return where if self.ranking.durability is None else f"{where}, {self.ranking.durability}"

    @property
    def sentence(self) -> str:
        """For a terminal: `filesystem, all: jfs > xfs = ext3 in running time (...)`"""
        order = f"{last_part(self.ranking.factor)}, {self.scope}: {self.ranking.display}"
        return f"{order} in {self.metric} ({self.ranking.test})"


@dataclass(frozen=True)
class Ranks:
    by_factor: Mapping[str, tuple[Rank, ...]]
    """Factor -> its rankings, the one over everything first."""

    @property
    def empty(self) -> bool:
        return not self.by_factor

    @property
    def main(self) -> tuple[Rank, ...]:
        """Over everything, of the factor that is compared."""
        first = next(iter(self.by_factor), None)
        return tuple(rank for rank in self.overall if rank.ranking.factor == first)

    @property
    def overall(self) -> tuple[Rank, ...]:
        return tuple(rank for ranks in self.by_factor.values() for rank in ranks if not rank.ranking.where)

    @property
    def of_groups(self) -> tuple[Rank, ...]:
        return tuple(rank for ranks in self.by_factor.values() for rank in ranks if rank.ranking.where)


def ranks(evidence: Evidence, flagged: Sequence[Flagged]) -> Ranks:
    factors = evidence.experiment.factors
    across = evidence.grid.factor if evidence.grid is not None else None
    first = [name for name in factors if name == across]
    found: dict[str, tuple[Rank, ...]] = {}
    for factor in (*first, *(name for name in factors if name != across)):
        if len(factors[factor]) >= FEWEST_LEVELS:
            ranked = tuple(_of_factor(evidence, factor, flagged, groups=factor == across))
            if ranked:
                found[factor] = ranked
    return Ranks(found)


def answer(view: Ranks) -> str | None:
    """The order over everything as a headline, for tables of single runs: there the levels can be shown to
    differ, but no single pair of runs. None where no difference is shown, or durability parts the levels."""
    if len(view.main) != 1 or not any(pair.differ for pair in view.main[0].ranking.pairs):
        return None
    (rank,) = view.main
    over = sorted({pair.conditions for pair in rank.ranking.pairs})
    number = f"{over[0]}" if len(over) == 1 else f"{over[0]} to {over[-1]}"
    return (
        f"{last_part(rank.ranking.factor)}, best in {rank.metric} first: {rank.ranking.display}, over "
        f"{number} conditions that differ in nothing else."
    )


def _of_factor(
    evidence: Evidence, factor: str, flagged: Sequence[Flagged], *, groups: bool
) -> Iterator[Rank]:
    yield from _rank(evidence, factor, {}, flagged)
    if not groups:
        return
    for name, levels in evidence.experiment.factors.items():
        # With a single other level it is the whole again.
        if name != factor and len(levels) > 1:
            for level in levels:
                yield from _rank(evidence, factor, {name: level}, flagged)


def _rank(
    evidence: Evidence, factor: str, where: Mapping[str, str], flagged: Sequence[Flagged]
) -> Iterator[Rank]:
    points = [
        point
        for point in evidence.experiment.compared_points
        if all(point.levels.get(name) == level for name, level in where.items())
    ]
    measured = [of_point for point in points if (of_point := evidence.trials_of(point.point_id))]
    metrics = {evidence.metric_of(of_point) for of_point in measured}
    if len(metrics) != 1:
        return
    metric = metrics.pop()

    def order(trials: Sequence[TrialRecord], of: Sequence[PointRecord]) -> tuple[Ranking, ...]:
        return ranking(trials, of, factor, metric, evidence.standard, where)

    own = {point.point_id for point in points}
    inside = [one for one in flagged if one.outlier.trial.point_id in own]
    clean = order(without(evidence, inside), points) if inside else ()
    others = {one.durability: one.display for one in clean}
    for one in order(evidence.trials, points):
        if not one.tested and not one.alone:
            continue
        other = others.get(one.durability, one.display)
        note = None if other == one.display else f"without {named(inside)}: {other}"
        yield Rank(one, metric.noun, note)
