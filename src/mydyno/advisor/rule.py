"""A rule: what it checks and why, and the function that judges a system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from mydyno.advisor.targets import Targets
from mydyno.apply.change import ByHand, Change
from mydyno.apply.finding import Aspect, Durability, Effect, Finding, Severity, Size
from mydyno.survey.facts import Server, System

T = TypeVar("T")

LAYERS = {
    "disks": "disks",
    "filesystems": "file systems",
    "kernel": "kernel",
    "memory": "memory",
    "innodb": "InnoDB",
    "connections": "connections",
    "replication": "replication",
    "logs": "logs",
    "schema": "schema",
    "server": "server",
}
"""The folders of `advisor/rules` from the disks up, each with its layer as a reader is shown it."""


@dataclass(frozen=True)
class Fine:
    """Nothing to do, and the numbers that say so."""

    because: str


@dataclass(frozen=True)
class Unknown:
    """Facts are missing, and which."""

    missing: str


@dataclass(frozen=True)
class NotHere:
    """The rule does not apply to this release, role or kind of host."""

    because: str


Judgement = Finding | Fine | Unknown | NotHere


class Ended(Exception):  # noqa: N818 - its judgement is a result, not an error
    """A rule has its judgement before its end: a fact is not known, or nothing is to be done."""

    def __init__(self, judgement: Fine | Unknown | NotHere) -> None:
        super().__init__(judgement)
        self.judgement = judgement


@dataclass(eq=False)
class Rule:
    """One idea, in one file of `advisor/rules`: what is documented of it, as the decorator of the function
    that judges a system. The module docstring is its long explanation."""

    checks: str
    """What is looked at, one sentence."""
    why: str
    """Why it matters, some sentences for a DBA."""
    expected: str
    """What following it brings, one sentence; the effect of its findings, unless they have the numbers."""
    sources: tuple[str, ...]
    """Title and section of manuals, papers, kernel documentation; an old guide where it said so."""
    variables: tuple[str, ...] = ()
    """Every server variable that it may set, in all releases' names. No other rule sets any of them."""
    durability: str = "none"
    """`none`, or what it does to committed transactions."""
    risk: str = "none known"
    """`none known`, or what may go wrong; of its findings too, unless they say it themselves."""
    _judge: Callable[[System, Targets], Judgement] = field(init=False)

    def __call__(self, judge: Callable[[System, Targets], Judgement]) -> Rule:
        self._judge = judge
        return self

    @property
    def module(self) -> str:
        return self._judge.__module__

    @property
    def id(self) -> str:
        """The name of its file with dashes: `redo-capacity`."""
        return self.module.rpartition(".")[2].replace("_", "-")

    @property
    def layer(self) -> str:
        """One of LAYERS, by its folder."""
        return LAYERS[self.module.split(".")[-2]]

    def judge(self, system: System, targets: Targets) -> Judgement:
        try:
            judgement = self._judge(system, targets)
        except Ended as ended:
            return ended.judgement
        return self._named(judgement) if isinstance(judgement, Finding) else judgement

    def _named(self, found: Finding) -> Finding:
        """The finding with what is the same in all findings of the rule."""
        says = found.effect.says or self.expected
        documented = None if self.risk.startswith("none") else self.risk
        return found.model_copy(
            update={
                "rule": self.id,
                "effect": found.effect.model_copy(update={"says": says}),
                "risk": documented if found.risk is None else found.risk or None,
            }
        )


def require(value: T | None, missing: str | NotHere) -> T:
    """The value. Where it is None, the judgement is that it is missing, or NotHere."""
    if value is None:
        raise Ended(Unknown(missing) if isinstance(missing, str) else missing)
    return value


def fine_if(server: Server, switch: str, wanted: bool, missing: str | NotHere | None = None) -> None:
    """Where the variable is as it should be, the judgement is Fine; `missing` as of `require`."""
    if require(server.switch(switch), missing or switch) is wanted:
        raise Ended(Fine(f"{switch} is {'ON' if wanted else 'OFF'}"))


def finding(
    title: str,
    evidence: tuple[str | None, ...],
    recommendation: str,
    changes: tuple[Change, ...],
    effect: Effect,
    severity: Severity = Severity.LOW,
    durability: Durability = "keeps",
    durability_says: str | None = None,
    risk: str | None = None,
    restart: bool = False,
) -> Finding:
    """What a rule says of one system: its evidence without None; a restart where a change needs it.

    `risk`: None for that of the rule, empty where there is none here.
    """
    return Finding(
        rule="",  # Rule.judge fills it in, and what the effect and the risk leave open
        title=title,
        evidence=tuple(line for line in evidence if line is not None),
        recommendation=recommendation,
        changes=changes,
        severity=severity,
        effect=effect,
        durability=durability,
        durability_says=durability_says,
        risk=risk,
        restart=restart or any(getattr(change, "restart", False) for change in changes),
    )


def better(aspect: Aspect, size: Size, says: str = "") -> Effect:
    """`says`: empty for what the rule says is expected."""
    return Effect(aspect=aspect, direction="better", size=size, says=says)


def worse(aspect: Aspect, size: Size, says: str) -> Effect:
    """Where safety costs speed."""
    return Effect(aspect=aspect, direction="worse", size=size, says=says)


def by_hand(says: str, *commands: str) -> tuple[ByHand, ...]:
    """The only change: a step that the DBA takes."""
    return (ByHand(says=says, commands=commands),)
