"""The experiment file by which advice is put to the test."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mydyno.advisor.advice import Advice
from mydyno.apply.finding import Finding
from mydyno.core.document.yaml_text import block, comment, inline
from mydyno.core.grounds import GUESTS
from mydyno.prove.levels import AS_IT_IS, Level, Levels
from mydyno.prove.place import Place
from mydyno.prove.provable import CONFIG, Untried, Value
from mydyno.prove.shape import Shape

FACTOR = "advice"
"""The factor's name."""
_QUESTION = "What is each finding of the advice worth, alone and all together?"
_MOST_BLOCKS = 20


@dataclass(frozen=True)
class Load:
    """What drives the server, and how often it is measured."""

    workload: str
    """A built-in one's name, or the path of a workload file."""
    is_file: bool
    connections: str
    """`1,8,32`, `10..400 step 10`."""
    warmup: str
    measure: str
    repeats: int = 5
    until: str | None = None
    """`±3%`; then `repeats` does not count."""
    seed: int = 1


@dataclass(frozen=True)
class Common:
    """What all levels share besides the load."""

    on: Place
    release: str | None = None
    external: Mapping[str, Any] | None = None
    config: Mapping[str, str | int] = field(default_factory=dict)
    storage: Mapping[str, Any] | None = None
    warm: bool = False
    """Whether the tables are read before each load: a cold cache is worth as little as none."""


@dataclass(frozen=True)
class Proposal:
    """Everything that the file is made of."""

    name: str
    advice: Advice
    levels: Levels
    untried: tuple[Untried, ...]
    shape: Shape
    common: Common
    load: Load

    @property
    def text(self) -> str:
        """The experiment file: `mydyno run` does with it what `mydyno prove` does."""
        return "\n".join(_lines(self)) + "\n"

    @property
    def not_measured(self) -> tuple[tuple[Finding, tuple[str, ...]], ...]:
        """Findings, or parts of them, that the experiment has no level for, each with the reasons."""
        whole = [(each.finding, each.reasons) for each in (*self.untried, *self.levels.untried)]
        parts = [
            (member.finding, member.left_out)
            for level in self.levels.alone
            for member in level.members
            if member.left_out
        ]
        return (*whole, *parts)


def name_of(text: str) -> str:
    """An experiment's name from a file's: small letters, digits and single dashes."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "advice"
    return f"prove-{slug.removeprefix('prove-')}"[:64].strip("-")


def claimed_order(finding: Finding) -> tuple[str, str] | None:
    """The level that is to be better first; None where no speed is promised, or another durability is
    bought with it: levels of different durability are not ranked with each other."""
    if finding.durability != "keeps" or finding.effect.aspect not in ("throughput", "latency"):
        return None
    match finding.effect.direction:
        case "better":
            return (finding.rule, AS_IT_IS)
        case "worse":
            return (AS_IT_IS, finding.rule)
        case "none":
            return None


def _lines(proposal: Proposal) -> Iterator[str]:
    yield from comment("Made by `mydyno prove` from the advice that `source` names.")
    yield ""
    yield f"experiment: {proposal.name}"
    yield f"question: {inline(_QUESTION)}"
    yield "source: >-"
    yield from (f"  {sentence}" for sentence in _source(proposal))
    yield ""
    yield "setup:"
    yield from block(_setup(proposal), 2)
    yield ""
    yield "factors:"
    yield f"  {FACTOR}:"
    levels = proposal.levels
    for level in levels.all:
        if level in levels.alone:
            yield from comment(level.members[0].finding.title, 4)
        yield f"    {level.name}:"
        yield from block(_changed(level, levels.now), 6)
    yield ""
    yield "workload:"
    yield from block(_workload(proposal.load, proposal.shape), 2)
    yield ""
    yield f"design: {inline(_design(proposal.load))}"
    claims = list(_claims(levels))
    if claims:
        yield ""
        yield "claims:"
        yield from (f"  - {inline(claim)}" for claim in claims)


def _source(proposal: Proposal) -> Iterator[str]:
    """For the report: where the question comes from, what is other than on the advised server, and what is
    not measured. A line each, folded into one text by YAML."""
    advice = proposal.advice
    yield f"Advice of mydyno {advice.mydyno} on {advice.server}, made {advice.made_at}."
    for note in proposal.shape.notes:
        yield f"{_one_line(note[:1].upper() + note[1:])}."
    for finding, reasons in proposal.not_measured:
        yield f"Not measured here, {finding.rule}: {_one_line('; '.join(reasons))}."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _setup(proposal: Proposal) -> dict[str, Any]:
    """As it is."""
    common, now = proposal.common, proposal.levels.now.values
    made: dict[str, Any] = {"host": common.on} if common.on in GUESTS else {}
    if common.warm:
        made["cache"] = "scan"
    server: dict[str, Any] = {}
    if common.external is not None:
        server["external"] = dict(common.external)
    elif common.release is not None:
        server["release"] = common.release
    config = {**common.config, **_below(CONFIG, now)}
    if config and common.external is None:
        server["config"] = config
    if server:
        made["server"] = server
    if common.storage is not None:
        made["storage"] = {"data": {**common.storage, **_below("storage.data.", now)}}
    if limits := _below("limits.", now):
        made["limits"] = limits
    return made


def _changed(level: Level, now: Level) -> dict[str, Any]:
    """The paths that the level sets: `as it is` all that any of them changes, the others what they change.

    A level has to set something: where nothing is known as it is, no variable is set there.
    """
    if level is now:
        return dict(now.values) or {CONFIG.rstrip("."): {}}
    return {path: value for path, value in level.values.items() if now.values.get(path) != value}


def _workload(load: Load, shape: Shape) -> dict[str, Any]:
    options = dict(shape.options)
    generator: dict[str, Any] = {load.workload: options}
    if load.is_file:
        generator = {"file": {"path": load.workload, "options": options}}
    numbers = [int(part) if part.strip().isdigit() else part.strip() for part in load.connections.split(",")]
    return {**generator, "connections": numbers, "each": {"warmup": load.warmup, "measure": load.measure}}


def _design(load: Load) -> dict[str, Any]:
    if load.until is not None:
        return {"until": load.until, "at_most": _MOST_BLOCKS, "seed": load.seed}
    return {"repeats": load.repeats, "seed": load.seed}


def _claims(levels: Levels) -> Iterator[dict[str, Any]]:
    """What each finding promises of speed, for the report to judge."""
    for level in levels.alone:
        finding = level.members[0].finding
        order = claimed_order(finding)
        if order is not None:
            said = f"{finding.rule}: {_one_line(finding.effect.says)}"
            yield {"factor": FACTOR, "order": order, "said": said}


def _below(prefix: str, values: Mapping[str, Value]) -> dict[str, Value]:
    return {path.removeprefix(prefix): value for path, value in values.items() if path.startswith(prefix)}
