"""The experiment file of a rehearsal: its workload is a trace, its factor is the side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from mydyno.core.document.yaml_text import Text, block, comment, inline
from mydyno.lab.analysis.comparability import PropertyName
from mydyno.rehearse.sides import Side

FACTOR = "side"


@dataclass(frozen=True)
class Proposal:
    """Everything that the file is made of."""

    name: str
    trace: Path
    data: Path
    database: str | None
    sides: Sequence[Side]
    repeats: int
    speed: str
    """As `workload.trace.speed` has it: `1`, `0.5`, `max`."""

    @property
    def text(self) -> str:
        return "\n".join(_lines(self)) + "\n"


def _lines(proposal: Proposal) -> Iterator[str]:
    yield from comment("Made by `mydyno rehearse`; `mydyno run --trust` runs the same.")
    yield f"experiment: {proposal.name}"
    yield f"question: {inline('What differs for this trace between ' + _list(proposal.sides) + '?')}"
    yield "setup:"
    yield "  data:"
    yield from block(_data(proposal), 4)
    yield "  server: {config: {event_scheduler: OFF}}"
    yield "factors:"
    yield f"  {FACTOR}:"
    for side in proposal.sides:
        yield f"    {inline(Text(side.name))}:"
        yield from block(_changed(side, proposal), 6)
    yield "workload:"
    yield from block({"trace": _trace(proposal)}, 2)
    yield f"design: {{repeats: {proposal.repeats}, seed: 1}}"
    # Releases differ in defaults; here that is the question.
    yield f"unequal: {inline(list(get_args(PropertyName)))}"


def _list(sides: Sequence[Side]) -> str:
    return " and ".join(side.name for side in sides)


def _data(proposal: Proposal) -> dict[str, Any]:
    given = {"path": str(proposal.data)}
    return given if proposal.database is None else {**given, "database": proposal.database}


def _trace(proposal: Proposal) -> dict[str, Any]:
    given = {"path": str(proposal.trace), "speed": proposal.speed}
    return given if proposal.database is None else {**given, "schema_name": proposal.database}


def _changed(side: Side, proposal: Proposal) -> Mapping[str, Any]:
    changed: dict[str, Any] = {"server.release": side.release}
    for name, value in side.settings.items():
        changed[f"server.config.{name}"] = value
    if any(each.schema_change is not None for each in proposal.sides):
        changed["data.schema_change"] = (
            None if side.schema_change is None else str(side.schema_change.resolve())
        )
    return {name: value for name, value in changed.items() if value is not None}
