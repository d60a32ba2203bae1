"""All rules over one system: the findings in the order of what they should bring."""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.advise.finding import Finding
from mydyno.advise.registry import RULES
from mydyno.advise.rule import Fine, Judgement, NotHere, Unknown
from mydyno.advise.targets import targets_of
from mydyno.facts import System
from mydyno.facts.record import Record
from mydyno.facts.unread import Unread


class Told(Record):
    """Why a rule has no finding."""

    rule: str
    outcome: str
    """`fine`, `unknown` or `not here`."""
    because: str


class Advice(Record):
    """What `mydyno advise` gives and `mydyno apply` takes."""

    format: int = 1
    mydyno: str
    made_at: str
    """UTC, ISO 8601."""
    server: str
    """Release and address, for people."""
    findings: tuple[Finding, ...]
    silent: tuple[Told, ...]
    unread: tuple[Unread, ...]


def judgements(system: System) -> Mapping[str, Judgement]:
    """What each rule says of the system, by the rule's id."""
    targets = targets_of(system)
    return {rule.id: rule.judge(system, targets) for rule in RULES}


def advise(system: System, made_at: str) -> Advice:
    """The advice for a system: the most severe first, then what brings more."""
    found: list[Finding] = []
    silent: list[Told] = []
    for name, judged in judgements(system).items():
        match judged:
            case Finding():
                found.append(judged)
            case Fine(because):
                silent.append(Told(rule=name, outcome="fine", because=because))
            case Unknown(missing):
                silent.append(Told(rule=name, outcome="unknown", because=missing))
            case NotHere(because):
                silent.append(Told(rule=name, outcome="not here", because=because))
    sizes = ("large", "medium", "small")
    found.sort(key=lambda each: (-each.severity, sizes.index(each.effect.size), each.rule))
    return Advice(
        mydyno=system.mydyno,
        made_at=made_at,
        server=f"{system.server.release} at {system.server.address or 'an address that was not told'}",
        findings=tuple(found),
        silent=tuple(silent),
        unread=system.unread,
    )
