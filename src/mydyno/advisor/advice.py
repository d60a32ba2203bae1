"""All rules over one system: the findings in the order of what they should bring, and the file they go to."""

import json
from collections.abc import Mapping

from pydantic import ValidationError

from mydyno.advisor.excerpt import excerpt
from mydyno.advisor.names import sentence
from mydyno.advisor.registry import RULES
from mydyno.advisor.role import forbidden
from mydyno.advisor.rule import Fine, Judgement, NotHere, Unknown
from mydyno.advisor.targets import Targets, targets_of
from mydyno.advisor.unknowns import Known
from mydyno.apply.change import ByHand, Change
from mydyno.apply.finding import Finding
from mydyno.core.errors import UsageError
from mydyno.core.record import Record
from mydyno.survey.facts import System
from mydyno.survey.facts.system import Unread

FORMAT = 1


class NoFinding(Record):
    """Why a rule has no finding."""

    rule: str
    outcome: str
    """`fine`, `unknown` or `not here`."""
    because: str


class Advice(Record):
    """What `mydyno advise` gives and `mydyno apply` takes."""

    format: int = FORMAT
    mydyno: str
    made_at: str
    """UTC, ISO 8601."""
    server: str
    """Release and address, for people."""
    findings: tuple[Finding, ...]
    silent: tuple[NoFinding, ...]
    memory: tuple[str, ...] = ()
    """The memory budget's arithmetic, a line each; empty: the memory is not known."""
    unread: tuple[Unread, ...]
    facts: System | None = None
    """What `mydyno prove` needs of the advised server (excerpt.py); None in a file of an older mydyno."""

    def to_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"


def read_advice(text: str, source: str) -> Advice:
    """The advice in a file that `mydyno advise` wrote. Raises UsageError that names `source`."""
    try:
        advice = Advice.model_validate_json(_checked_format(text, source))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(
            f"{source} is not an advice file of mydyno: {where}: {first['msg']}",
            "create one with `mydyno advise ... --out FILE`",
        ) from error
    return advice


def judgements(system: System, targets: Targets | None = None) -> Mapping[str, Judgement]:
    """What each rule says of the system, by the rule's id, as far as it rests on what is known."""
    known = Known.of(system, targets)
    return {rule.id: known.judge(rule) for rule in RULES}


def advise(system: System, made_at: str) -> Advice:
    """The advice for a system: the most severe first, then what brings more.

    A change that must not be made here (a managed service's, a cluster's, a container's) becomes one to be
    made by hand that says why.
    """
    targets = targets_of(system)
    findings: list[Finding] = []
    silent: list[NoFinding] = []
    for name, judged in judgements(system).items():
        match judged:
            case Finding():
                findings.append(allowed(system, judged))
            case Fine(because):
                silent.append(NoFinding(rule=name, outcome="fine", because=because))
            case Unknown(missing):
                silent.append(NoFinding(rule=name, outcome="unknown", because=missing))
            case NotHere(because):
                silent.append(NoFinding(rule=name, outcome="not here", because=because))
    sizes = ("large", "medium", "small")
    findings.sort(key=lambda finding: (-finding.severity, sizes.index(finding.effect.size), finding.rule))
    return Advice(
        mydyno=system.mydyno,
        made_at=made_at,
        server=f"{system.server.release} at {system.server.address or 'an unknown address'}",
        findings=tuple(findings),
        silent=tuple(silent),
        memory=targets.memory_lines,
        unread=system.unread,
        facts=excerpt(system),
    )


def allowed(system: System, finding: Finding) -> Finding:
    """The finding with the changes that mydyno must not make here left to be made by hand."""
    changes = tuple(_or_by_hand(system, change) for change in finding.changes)
    return finding.model_copy(update={"changes": changes})


def _or_by_hand(system: System, change: Change) -> Change:
    reason = forbidden(system, change)
    return (
        change if reason is None else ByHand(says=f"{sentence(change)}: not done by mydyno, because {reason}")
    )


def _checked_format(text: str, source: str) -> str:
    """`text` as it is, unless a later mydyno says in it that it is of a later format."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(document, dict) and isinstance(document.get("format"), int) and document["format"] > FORMAT:
        raise UsageError(
            f"{source} was written by a newer mydyno ({document.get('mydyno')})", "upgrade this one"
        )
    return text
