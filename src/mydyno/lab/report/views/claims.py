"""What the source concluded, next to what its numbers show."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mydyno.core.factors import last_part
from mydyno.core.plurals import counted
from mydyno.lab.analysis.claims import JudgedClaim, State, Step, judged_claims
from mydyno.lab.analysis.words import primary_metric
from mydyno.lab.report.evidence import Evidence
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
