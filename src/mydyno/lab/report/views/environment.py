"""The machine and its software, as facts in groups, and how to run it again: what to type, and what decides
that it is the same."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from mydyno.core.plurals import counted
from mydyno.core.secrets import masked
from mydyno.core.units import format_bytes, format_duration
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.results.records import OF_HOST, ExperimentRecord, NetworkRecord
from mydyno.page.format import MISSING

_NAMES_FILES = re.compile(r"\.smack\b|^\s*file:", re.MULTILINE)
_SIZED_FULL = re.compile(r"^sizes:(?:.*\n+)(?:[ #].*\n+|\n)*?\s+full:", re.MULTILINE)
_HOST = "host "
SPEC = "experiment.yaml"
"""The copy of the experiment file in a run's folder (docs/reference/lab-format.md)."""


@dataclass(frozen=True)
class Command:
    what: str
    line: str


@dataclass(frozen=True)
class Again:
    commands: tuple[Command, ...]
    """Empty for numbers that were measured elsewhere."""
    facts: tuple[tuple[str, str], ...]
    remark: str | None


def again(evidence: Evidence) -> Again:
    experiment, folder = evidence.experiment, evidence.folder
    servers = sorted({trial.server_version for trial in evidence.trials if trial.server_version is not None})
    facts = (
        ("seed", str(experiment.seed)),
        ("size", experiment.size),
        ("mydyno", experiment.mydyno_version),
        *((("server", ", ".join(servers)),) if servers else ()),
        ("plan", experiment.plan_fingerprint),
        ("planned trials", str(experiment.planned_trials)),
    )
    size = "" if _as_it_stands(experiment) else f" --size {shlex.quote(experiment.size)}"
    if experiment.imported:
        return Again((), facts, "The numbers were measured elsewhere: there is nothing to run.")
    if folder is None:
        file = shlex.quote(experiment.spec_file)
        repeated = Command("Measure it again", f"mydyno run {file}{size} --again")
        return Again((repeated,), facts, f"Save the experiment below as {experiment.spec_file} first.")
    lab = f"--lab {shlex.quote(str(folder.parents[1]))}"
    file = shlex.quote(str(folder / SPEC))
    return Again(
        (
            Command("Resume this run, if it is not complete", f"mydyno run {file}{size} {lab}"),
            Command("Measure it again, next to this run", f"mydyno run {file}{size} {lab} --again"),
            Command("Write this report again", f"mydyno report {shlex.quote(folder.name)} {lab}"),
        ),
        facts,
        f"Files named in the experiment are expected in the folder of {folder / SPEC}: copy them there first."
        if _NAMES_FILES.search(experiment.spec_text)
        else None,
    )


def _as_it_stands(experiment: ExperimentRecord) -> bool:
    """A file without a size of that name, run as it is, is called full."""
    return experiment.size == "full" and _SIZED_FULL.search(experiment.spec_text) is None


_FIRST = (
    "server",
    "engine",
    "mydyno",
    "machine",
    "cpu",
    "memory",
    "kernel",
    "os",
    "disk",
    "lab",
    "filesystem",
)
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

    @property
    def host(self) -> str | None:
        """The host whose facts these are, where servers ran on several."""
        return self.name.removeprefix(_HOST) if self.name.startswith(_HOST) else None


def environment_view(evidence: Evidence) -> tuple[FactGroup, ...]:
    groups: dict[str, list[Fact]] = {}
    for name, value in sorted(_facts(evidence).items()):
        group, rest = _group(name)
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
    return {
        **evidence.environment,
        **facts,
        **_generators(evidence),
        "mydyno.version": evidence.experiment.mydyno_version,
    }


def _generators(evidence: Evidence) -> Mapping[str, str | int | float | None]:
    """The machines that drove the load, and their network to the server: medians over the trials."""
    of_host: dict[str, list[NetworkRecord]] = {}
    for trial in evidence.trials:
        for each in trial.networks:
            of_host.setdefault(each.host, []).append(each)
    facts: dict[str, str | int | float | None] = {}
    for host, records in of_host.items():
        trips = [each.round_trip_ns for each in records if each.round_trip_ns is not None]
        rates = [each.bytes_per_second for each in records if each.bytes_per_second is not None]
        facts[f"generators.{host}"] = "; ".join(
            [
                f"{counted(records[0].cpus, 'CPU')}{', of the server' if records[0].beside_server else ''}",
                *([f"round trip {format_duration(median(trips) / 1e9)}"] if trips else []),
                *([f"{format_bytes(round(median(rates)))}/s from the server"] if rates else []),
                f"clock known within {format_duration(max(each.clock_error_s for each in records))}",
            ]
        )
    return facts


def _group(name: str) -> tuple[str, str]:
    """`cpu` and `model` of `cpu.model`; `host db1` and `cpu.model` of `hosts.db1.cpu.model`."""
    if name.startswith(OF_HOST):
        host, *fact = name.removeprefix(OF_HOST).rsplit(".", 2)
        return f"{_HOST}{host}", ".".join(fact)
    group, _, rest = name.partition(".")
    return group, rest


def _place(group: str) -> int:
    return _FIRST.index(group) if group in _FIRST else len(_FIRST)


def fact_text(name: str, value: str | int | float | None) -> str:
    """As it is shown: bytes with a unit, nothing that looks like a password."""
    if value is None or value == "":
        return MISSING
    if isinstance(value, int) and name.endswith("bytes"):
        return format_bytes(value)
    return masked(str(value))
