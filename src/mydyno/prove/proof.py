"""What each finding was worth: its expected effect with the verdict of the trials."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from mydyno.apply.finding import Finding
from mydyno.core.plurals import counted
from mydyno.core.record import Record
from mydyno.lab.analysis.verdict import Verdict, smallest_seen
from mydyno.lab.analysis.wording import change, excluding, undecidable
from mydyno.prove.experiment import Proposal
from mydyno.prove.levels import TOGETHER, Level

Outcome = Literal["worth it", "worth nothing", "harms", "not enough data", "not measured"]


class Proof(Record):
    """One level of the experiment against `as it is`, or a finding that has none."""

    level: str
    """The rule's id, `all together`..."""
    findings: tuple[str, ...]
    expected: str
    """What the advice says of it."""
    durability: str
    """`keeps`, `raises` or `lowers`; of several findings the one that differs."""
    outcome: Outcome
    ratio: float | None = None
    """Over `as it is`, in the metric; None: nothing was compared."""
    low: float | None = None
    high: float | None = None
    """Bounds of the ratio's interval; None: too few trials for one."""
    n: tuple[int, int] | None = None
    """Trials of the level and of `as it is`."""
    worth: str
    """The verdict in words: `worth 12% (9 to 15)`."""
    not_measured: tuple[str, ...] = ()
    """What of it is not measured, each change with the reason."""


class Proofs(Record):
    """What `prove.json` holds."""

    format: int = 1
    mydyno: str
    experiment: str
    server: str
    """The advised one."""
    metric: str | None
    better: Literal["higher", "lower"] | None
    notes: tuple[str, ...]
    proofs: tuple[Proof, ...]


def proofs_of(
    proposal: Proposal, verdicts: Mapping[str, Verdict], mydyno: str, notes: Sequence[str] = ()
) -> Proofs:
    """What the trials say. `verdicts`: level -> the level against `as it is`; `notes`: what else to know."""
    metric = next((verdict.metric for verdict in verdicts.values()), None)
    proofs = tuple(_proofs(proposal, verdicts))
    better = metric.better if metric else "higher"
    together = interaction(proposal, {proof.level: proof for proof in proofs}, better)
    return Proofs(
        mydyno=mydyno,
        experiment=proposal.name,
        server=proposal.advice.server,
        metric=metric.noun if metric else None,
        better=metric.better if metric else None,
        notes=(*([together] if together else []), *proposal.shape.notes, *notes),
        proofs=proofs,
    )


def interaction(proposal: Proposal, proofs: Mapping[str, Proof], better: str) -> str | None:
    """Whether findings that are followed together bring what each brings alone; None: not all were measured.

    Independent findings multiply: speed is compared as a ratio.
    """
    together = next((level for level in proposal.levels.together if level.name == TOGETHER), None)
    measured = proofs.get(TOGETHER)
    if together is None or measured is None or measured.ratio is None:
        return None
    alone = [proofs.get(rule) for rule in _rules(together)]
    ratios = [proof.ratio for proof in alone if proof is not None and proof.ratio is not None]
    if len(ratios) < len(alone):
        return None
    product = math.prod(ratios)
    summary = f"each finding alone multiplies to {product:.2f}x, all together {measured.ratio:.2f}x"
    if measured.low is None or measured.high is None:
        return summary
    if measured.low <= product <= measured.high:
        return f"{summary}: no interaction was found"
    less = product > measured.high if better == "higher" else product < measured.low
    return f"{summary}: {'they overlap' if less else 'together they gain more than each alone'}"


def _proofs(proposal: Proposal, verdicts: Mapping[str, Verdict]) -> Iterator[Proof]:
    levels = proposal.levels
    for level in (*levels.alone, *levels.together):
        yield _proof(level, verdicts.get(level.name))
    measured = {finding for level in levels.alone for finding in _rules(level)}
    for finding, reasons in proposal.not_measured:
        if finding.rule not in measured:
            yield Proof(
                level=finding.rule,
                findings=(finding.rule,),
                expected=expected(finding),
                durability=finding.durability,
                outcome="not measured",
                worth="not measured here",
                not_measured=reasons,
            )


def _proof(level: Level, verdict: Verdict | None) -> Proof:
    alone = len(level.members) == 1
    finding = level.members[0].finding
    differing = [
        member.finding.durability for member in level.members if member.finding.durability != "keeps"
    ]
    interval = verdict.ratio.interval if verdict else None
    outcome = _outcome(verdict)
    return Proof(
        level=level.name,
        findings=_rules(level),
        expected=expected(finding) if alone else f"{len(level.members)} findings",
        durability=differing[0] if differing else "keeps",
        outcome=outcome,
        ratio=verdict.ratio.value if verdict else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        n=(verdict.ratio.n_left, verdict.ratio.n_right) if verdict else None,
        worth=_worth(outcome, verdict, finding if alone else None),
        not_measured=tuple(reason for member in level.members for reason in member.left_out) if alone else (),
    )


def _rules(level: Level) -> tuple[str, ...]:
    return tuple(member.finding.rule for member in level.members)


def expected(finding: Finding) -> str:
    """`throughput better (large): reads come from memory`."""
    effect = finding.effect
    return f"{effect.aspect} {effect.direction} ({effect.size}): {effect.says}"


def _outcome(verdict: Verdict | None) -> Outcome:
    if verdict is None:
        return "not measured"
    match verdict.outcome:
        case "faster":
            return "worth nothing" if verdict.negligible else "worth it"
        case "slower":
            return "worth nothing" if verdict.negligible else "harms"
        case "no-difference":
            return "worth nothing"
        case "not-enough-data":
            return "not enough data"


def _worth(outcome: Outcome, verdict: Verdict | None, finding: Finding | None) -> str:
    if verdict is None:
        return "not measured: no valid trial"
    ratio, metric = verdict.ratio, verdict.metric
    in_metric = "" if metric.better == "higher" else f" of {metric.noun}"
    bought = ""
    if finding is not None and finding.durability == "raises" and finding.durability_says:
        bought = f"; it improves durability: {finding.durability_says}"
    note = f"; {verdict.durability_note}" if verdict.durability_note and not bought else ""
    match outcome:
        case "worth it" | "harms":
            word = "worth" if outcome == "worth it" else "costs" if bought else "harms:"
            return f"{word} {change(ratio)}{in_metric}{note}{bought}"
        case "worth nothing":
            return f"worth nothing: {excluding(ratio) or 'identical in every trial'}{bought}"
        case _:
            excluded = excluding(ratio)
            return f"not enough data: {f'{excluded}; ' if excluded else ''}{_needed(verdict)}{bought}"


def _needed(verdict: Verdict) -> str:
    if verdict.more_trials is not None:
        return f"about {counted(verdict.more_trials, 'more trial')} of each"
    smallest = smallest_seen(verdict.ratio, verdict.standard)
    if smallest is None:
        return verdict.sentence
    return undecidable(min(verdict.ratio.n_left, verdict.ratio.n_right), smallest)
