"""The part of `mydyno doctor` about storage: what each environment can do here, and how to get the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mydyno.cli import screen
from mydyno.cli.shown import aligned
from mydyno.core.grounds import GROUNDS, KINDS

if TYPE_CHECKING:
    from mydyno.core.facts import GroundFacts
    from mydyno.core.grounds import HostKind
    from mydyno.lab.plan.grounds import Offer

_LABELS = {"boots": "can be used"}


@dataclass(frozen=True)
class GroundCheck:
    """What one environment can do. One that cannot be used stops no experiment without storage."""

    name: str
    """`environment uml`."""
    verdict: Literal["ok", "warning"]
    found: str
    hint: str | None
    needs_root: bool
    kernels: tuple[str, ...]
    kvm: bool | None
    """Whether guests run with KVM; None: not tried, or no question here."""
    offers: dict[str, str]
    """Capability -> `yes`, or why it is not there."""
    hints: dict[str, str]
    """Capability -> how to get it, where that is known."""

    @property
    def ground(self) -> str:
        return self.name.removeprefix("environment ")


def examine_grounds() -> tuple[GroundCheck, ...]:
    """Each environment of this machine, in the order in which they are explained."""
    from mydyno.machine.ground_facts import read_ground_facts

    return checks_of(read_ground_facts(try_kvm=True))


def checks_of(facts: GroundFacts) -> tuple[GroundCheck, ...]:
    """The same for a machine with these facts. Of other machines `mydyno hosts check` reports it."""
    return tuple(_examine(ground, facts) for ground in KINDS if ground != "ssh")


def table(grounds: Sequence[GroundCheck]) -> Iterator[str]:
    """The matrix as lines of text, then why something is not there."""
    rows = {
        _LABELS.get(capability, capability): [_cell(ground, capability) for ground in grounds]
        for capability in grounds[0].offers
    }
    rows["needs root"] = ["yes" if ground.needs_root else "no" for ground in grounds]
    rows["KVM"] = [_kvm(ground) for ground in grounds]
    rows["kernels here"] = [", ".join(ground.kernels) or "none" for ground in grounds]
    rows = {"storage on": [ground.ground for ground in grounds], **rows}
    yield from aligned([(name, *cells) for name, cells in rows.items()])
    reasons = _reasons(grounds)
    if reasons:
        yield from ("", "why not")
    for reason, names in reasons.items():
        yield f"  {', '.join(names)}: {reason}"


def show(grounds: Sequence[GroundCheck]) -> None:
    for line in table(grounds):
        screen.echo(line)


def _examine(ground: HostKind, facts: GroundFacts) -> GroundCheck:
    from mydyno.lab.plan.grounds import CAPABILITIES, offer

    offers = {capability: offer(capability, ground, facts) for capability in CAPABILITIES}
    boots = offers["boots"]
    kernels = {"local": (facts.kernel,), "uml": facts.uml_kernels, "vm": facts.vm_kernels}[ground]
    return GroundCheck(
        name=f"environment {ground}",
        verdict="ok" if boots.has else "warning",
        found=f"{GROUNDS[ground].about}: {_summary(offers) if boots.has else boots.why}",
        hint=boots.hint,
        needs_root=GROUNDS[ground].needs_root,
        kernels=kernels,
        kvm=facts.kvm if ground == "vm" else None,
        offers={name: "yes" if offered.has else offered.why for name, offered in offers.items()},
        hints={name: offered.hint for name, offered in offers.items() if offered.hint},
    )


def _summary(offers: dict[str, Offer]) -> str:
    lacking = [name for name, offered in offers.items() if not offered.has]
    return f"all but {', '.join(_LABELS.get(name, name) for name in lacking)}" if lacking else "everything"


def _cell(ground: GroundCheck, capability: str) -> str:
    if ground.offers[capability] != "yes":
        return "no"
    return "yes" if ground.verdict == "ok" else "would"


def _kvm(ground: GroundCheck) -> str:
    if ground.ground != "vm":
        return "-"
    return {None: "not tried", True: "works", False: "does not work"}[ground.kvm]


def _reasons(grounds: Sequence[GroundCheck]) -> dict[str, list[str]]:
    """Why (and how to get it) -> what is not there for that reason, as `local jfs`; each reason once."""
    reasons: dict[str, list[str]] = {}
    for ground in grounds:
        for capability, why in ground.offers.items():
            if why != "yes":
                hint = ground.hints.get(capability)
                name = f"{ground.ground} {_LABELS.get(capability, capability)}"
                reasons.setdefault(f"{why} ({hint})" if hint else why, []).append(name)
    return reasons
