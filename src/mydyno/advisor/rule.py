"""A rule: what it checks and why, and the function that judges a system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Finding
from mydyno.survey.facts import System

Layer = Literal[
    "hardware",
    "array",
    "volume",
    "file system",
    "mount",
    "disk queue",
    "kernel",
    "limits",
    "memory",
    "redo log",
    "durability",
    "InnoDB I/O",
    "InnoDB concurrency",
    "InnoDB files",
    "connections",
    "threads",
    "tables",
    "temporary tables",
    "sessions",
    "query cache",
    "binary log",
    "replication",
    "logs",
    "schema",
    "option files",
    "release",
]


@dataclass(frozen=True)
class Fine:
    """Nothing to do, and the numbers that say so."""

    because: str


@dataclass(frozen=True)
class Unknown:
    """It cannot be told: which facts are missing."""

    missing: str


@dataclass(frozen=True)
class NotHere:
    """The rule does not apply to this release, role or kind of host."""

    because: str


Judgement = Finding | Fine | Unknown | NotHere


@dataclass(frozen=True)
class Rule:
    """One idea, in one file of `advisor/rules`, whose module docstring is its long explanation."""

    id: str
    """Small letters and dashes, as the file is called with underscores: `redo-capacity`."""
    layer: Layer
    checks: str
    """What is looked at, one sentence."""
    why: str
    """Why it matters, some sentences for a DBA."""
    expected: str
    """What following it brings, and in which direction, one sentence."""
    durability: str
    """`none`, or what it does to committed transactions."""
    risk: str
    """`none known`, or what may go wrong."""
    sources: tuple[str, ...]
    """Title and section of manuals, papers, kernel documentation; an old guide where it said so."""
    judge: Callable[[System, Targets], Judgement]
    variables: tuple[str, ...] = ()
    """Every server variable that it may set, in all releases' names. No other rule sets any of them."""
