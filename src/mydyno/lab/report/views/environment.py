"""The machine and its software, as facts in groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.core.secrets import masked
from mydyno.core.units import format_bytes
from mydyno.lab.report.evidence import Evidence
from mydyno.page.format import MISSING

_FIRST = ("server", "engine", "mydyno", "cpu", "memory", "kernel", "os", "disk", "lab", "filesystem")
"""What a reader asks first; other groups follow in the order of their names."""


@dataclass(frozen=True)
class Fact:
    name: str
    value: str
    changed: bool
    """It was not the same each time that the run was started."""


@dataclass(frozen=True)
class FactGroup:
    name: str
    facts: tuple[Fact, ...]


def environment_view(evidence: Evidence) -> tuple[FactGroup, ...]:
    groups: dict[str, list[Fact]] = {}
    for name, value in sorted(_facts(evidence).items()):
        group, _, rest = name.partition(".")
        seen = evidence.environment_changes.get(name)
        text = (
            fact_text(name, value) if seen is None else ", then ".join(fact_text(name, each) for each in seen)
        )
        groups.setdefault(group, []).append(Fact(rest or group, text, changed=seen is not None))
    ordered = sorted(groups, key=lambda group: (_place(group), group))
    return tuple(FactGroup(group, tuple(groups[group])) for group in ordered)


def _facts(evidence: Evidence) -> Mapping[str, str | int | float | None]:
    """The recorded facts, and the server's version as the trials found it."""
    versions = sorted({t.server_version for t in evidence.trials if t.server_version is not None})
    facts = {"server.version": ", ".join(versions)} if versions else {}
    return {**evidence.environment, **facts, "mydyno.version": evidence.experiment.mydyno_version}


def _place(group: str) -> int:
    return _FIRST.index(group) if group in _FIRST else len(_FIRST)


def fact_text(name: str, value: str | int | float | None) -> str:
    """As it is shown: bytes with a unit, nothing that looks like a password."""
    if value is None or value == "":
        return MISSING
    if isinstance(value, int) and name.endswith("bytes"):
        return format_bytes(value)
    return masked(str(value))
