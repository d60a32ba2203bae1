"""What a rule found: evidence, what to do, what it should bring and cost; and which findings of an advice are
to be carried out. Pure."""

from collections.abc import Collection, Sequence
from enum import IntEnum
from typing import Literal

from mydyno.apply.change import Change
from mydyno.core.errors import UsageError
from mydyno.core.nearest import did_you_mean
from mydyno.core.record import Record


class Severity(IntEnum):
    """In the order in which findings are shown."""

    CRITICAL = 4
    """Data can be lost, or the server will be killed or refuse work."""
    HIGH = 3
    MEDIUM = 2
    LOW = 1

    @property
    def label(self) -> str:
        return self.name.lower()


Size = Literal["large", "medium", "small"]
Aspect = Literal["safety", "throughput", "latency", "stability", "memory", "disk space", "cost", "insight"]
Durability = Literal["keeps", "raises", "lowers"]


class Effect(Record):
    """What following the advice should bring.

    `better`: more throughput, less latency... `worse` where safety costs speed: then the aspect is
    throughput or latency and the finding's `durability` says what is bought.
    """

    aspect: Aspect
    direction: Literal["better", "worse", "none"]
    size: Size
    says: str
    """One sentence with the calculation's outcome where there is one."""


class Finding(Record):
    """What one rule says of one system."""

    rule: str
    """The rule's id."""
    title: str
    """What is the matter here, one line, with its numbers."""
    evidence: tuple[str, ...]
    """Lines of facts and arithmetic: `4.2 MB/s of redo x 3600 s = 14.8G in an hour, capacity 96M`."""
    recommendation: str
    """In this release's own names."""
    changes: tuple[Change, ...]
    severity: Severity
    effect: Effect
    durability: Durability = "keeps"
    durability_says: str | None = None
    risk: str | None = None
    """What may go wrong; None: nothing known."""
    restart: bool = False
    """Whether the server must restart before all of it counts."""


def select(
    findings: Sequence[Finding], only: Collection[str], without: Collection[str]
) -> tuple[Finding, ...]:
    """The findings of the rules in `only` (empty: all) but those in `without`.

    Raises UsageError for an id that the advice does not have, with the nearest ones.
    """
    ids = [finding.rule for finding in findings]
    for wanted in (*only, *without):
        if wanted not in ids:
            raise UsageError(
                f"the advice has no finding {wanted}",
                did_you_mean(wanted, ids, f"it has {', '.join(ids) or 'none at all'}"),
            )
    return tuple(each for each in findings if (not only or each.rule in only) and each.rule not in without)


def ids_of(text: str | None) -> tuple[str, ...]:
    """`swappiness,redo-capacity` as an option gives it."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
