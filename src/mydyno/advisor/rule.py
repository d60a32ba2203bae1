"""A rule: what it checks and why, and the function that judges a system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mydyno.advisor.targets import Targets
from mydyno.apply.change import ByHand, Change
from mydyno.apply.finding import Aspect, Durability, Effect, Finding, Severity, Size
from mydyno.survey.facts import System

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


@dataclass(frozen=True)
class Rule:
    """One idea, in one file of `advisor/rules`, whose module docstring is its long explanation."""

    checks: str
    """What is looked at, one sentence."""
    why: str
    """Why it matters, some sentences for a DBA."""
    expected: str
    """What following it brings, and in which direction, one sentence."""
    sources: tuple[str, ...]
    """Title and section of manuals, papers, kernel documentation; an old guide where it said so."""
    judge: Callable[[System, Targets], Judgement]
    variables: tuple[str, ...] = ()
    """Every server variable that it may set, in all releases' names. No other rule sets any of them."""
    durability: str = "none"
    """`none`, or what it does to committed transactions."""
    risk: str = "none known"
    """`none known`, or what may go wrong."""

    @property
    def id(self) -> str:
        """The name of its file with dashes: `redo-capacity`."""
        return self.judge.__module__.rpartition(".")[2].replace("_", "-")

    @property
    def layer(self) -> str:
        """One of LAYERS, by its folder."""
        return LAYERS[self.judge.__module__.split(".")[-2]]

    def finding(
        self,
        title: str,
        evidence: tuple[str, ...],
        recommendation: str,
        changes: tuple[Change, ...],
        severity: Severity,
        effect: Effect,
        durability: Durability = "keeps",
        durability_says: str | None = None,
        risk: str | None = None,
        restart: bool = False,
    ) -> Finding:
        """What this rule says of one system; with a restart where one of the changes needs it."""
        return Finding(
            rule=self.id,
            title=title,
            evidence=evidence,
            recommendation=recommendation,
            changes=changes,
            severity=severity,
            effect=effect,
            durability=durability,
            durability_says=durability_says,
            risk=risk,
            restart=restart or any(getattr(change, "restart", False) for change in changes),
        )


def better(aspect: Aspect, size: Size, says: str) -> Effect:
    return Effect(aspect=aspect, direction="better", size=size, says=says)


def worse(aspect: Aspect, size: Size, says: str) -> Effect:
    """Where safety costs speed."""
    return Effect(aspect=aspect, direction="worse", size=size, says=says)


def by_hand(says: str, *commands: str) -> tuple[ByHand, ...]:
    """The only change: a step that the DBA takes."""
    return (ByHand(says=says, commands=commands),)
