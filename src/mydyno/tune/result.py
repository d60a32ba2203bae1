"""What a search leaves: an option file, advice for `mydyno apply`, and all of it as one record. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from mydyno import __version__
from mydyno.advisor.advice import Advice
from mydyno.apply.change import ByHand, Change, SetVariable
from mydyno.apply.finding import Aspect, Effect, Finding, Severity
from mydyno.core.document.yaml_text import inline
from mydyno.lab.spec.paths import CONFIG_PATH
from mydyno.tune.confirm import Confirmation
from mydyno.tune.history import Candidate, Heat, HeatEnd, Round, Score
from mydyno.tune.reduce import Reduced, Worth, short
from mydyno.tune.scores import times
from mydyno.tune.screening import Screening
from mydyno.tune.space import Space

_LARGE, _MEDIUM = 1.2, 1.05
_ASPECTS: Mapping[str, Aspect] = {
    "throughput": "throughput",
    "p99": "latency",
    "cpu-per-transaction": "cost",
    "cost": "cost",
}


@dataclass(frozen=True)
class Found:
    """Everything that the report shows."""

    name: str
    release: str
    at: str
    objectives: tuple[str, ...]
    space: Space
    constraints: tuple[str, ...]
    scores: tuple[Score, ...]
    heats: tuple[Heat, ...]
    rounds: tuple[Round, ...]
    ends: tuple[HeatEnd, ...]
    confirmations: tuple[Confirmation, ...]
    reduced: Reduced | None

    @property
    def confirmed(self) -> Confirmation | None:
        return next((each for each in self.confirmations if each.holds), None)

    @property
    def order(self) -> str | None:
        """What was not measured in slices, and why; None: all was, or the experiment is in blocks."""
        heat = next((each.heat for each in self.rounds if each.blocked), None)
        if heat is not None:
            what = f"measured in blocks from heat {heat} on"
        elif any(each.blocked for each in self.confirmations):
            what = "confirmed in blocks"
        else:
            return None
        return f"{what}, since servers disturbed each other in slices"

    @property
    def screening(self) -> Screening | None:
        """What the search began with, where its space was large."""
        heat = next((each for each in self.heats if each.screening), None)
        return None if heat is None else Screening(self.space, self.candidates[heat.leader], {})

    @property
    def candidates(self) -> Mapping[int, Candidate]:
        return {each.candidate.number: each.candidate for each in self.scores}


def to_json(found: Found) -> str:
    """All of it; `from_json` reads it."""
    return _record().dump_json(found, indent=1).decode()


def from_json(text: str | bytes) -> Found:
    """Raises pydantic's ValidationError for what `to_json` does not write."""
    return _record().validate_json(text)


@cache
def _record() -> TypeAdapter[Found]:
    return TypeAdapter(Found)


def option_file(found: Found) -> str:
    """`best.cnf`; other paths are comments. Only of what was confirmed."""
    assert found.reduced is not None
    return "\n".join(_lines(found, found.reduced)) + "\n"


def _lines(found: Found, reduced: Reduced) -> Iterator[str]:
    yield f"# {found.name}: found by mydyno {__version__} on {found.release}, {found.at}."
    yield f"# {_gain(found)} {times(found.objectives[0])} in {found.objectives[0]}, confirmed on other data."
    yield "# Valid for this release, this load and this machine."
    for path, value in reduced.settings.items():
        if not path.startswith(CONFIG_PATH):
            yield f"# not a server variable: {path}: {inline(value)}"
    yield "[mysqld]"
    for path, value in reduced.settings.items():
        if path.startswith(CONFIG_PATH):
            yield f"{short(path)} = {text_of(value)}"


def _gain(found: Found) -> str:
    assert found.reduced is not None
    return found.reduced.gain.interval


def text_of(value: Any) -> str:
    return ("OFF", "ON")[value] if isinstance(value, bool) else str(value)


def advice_of(found: Found, was: Mapping[str, str], dynamic: frozenset[str]) -> Advice:
    """A finding for each setting that is left; `was`: in force at the start, by the variable's name;
    `dynamic`: the variables that the server lets be set while it runs."""
    assert found.reduced is not None
    findings = [
        _finding(found, worth, was.get(short(worth.path)), short(worth.path) in dynamic)
        for worth in found.reduced.worth
        if worth.kept
    ]
    return Advice(
        mydyno=__version__,
        made_at=found.at,
        server=f"{found.release} at a private server of mydyno tune",
        findings=tuple(findings),
        silent=(),
        unread=(),
    )


def _finding(found: Found, worth: Worth, was: str | None, dynamic: bool) -> Finding:
    name, value = short(worth.path), text_of(worth.value)
    change: Change
    if worth.path.startswith(CONFIG_PATH):
        change = SetVariable(name=name, value=value, was=was, restart=not dynamic)
    else:
        change = ByHand(says=f"set {worth.path} to {inline(worth.value)}, as in an experiment file")
    ratio = worth.gain.ratio or 1.0
    size = "large" if ratio >= _LARGE else "medium" if ratio >= _MEDIUM else "small"
    return Finding(
        rule=f"tuned-{name.replace('_', '-').replace('.', '-')}",
        title=f"{name} = {value} was measured to be better under {found.name}",
        evidence=(
            f"with it {worth.gain.interval} times as good as without, n={worth.gain.n}",
            f"all settings together: {_gain(found)} {times(found.objectives[0])}",
        ),
        recommendation=f"{name} = {value}",
        changes=(change,),
        severity=Severity.MEDIUM,
        effect=Effect(
            aspect=_ASPECTS[found.objectives[0]],
            direction="better",
            size=size,
            says=f"{worth.gain.interval} times, as measured",
        ),
        risk="measured under one load, on one machine",
        restart=isinstance(change, SetVariable) and change.restart,
    )


def constraint_lines(constraints: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(f"{name}: {value}" for name, value in constraints.items() if value is not None)


def progress(found: Found) -> Sequence[tuple[int, float]]:
    """After each trial: the best ratio of the first objective so far."""
    best, steps = 0.0, []
    for score in found.scores:
        if score.candidate.number and score.feasible:
            best = max(best, score.ratios.get(found.objectives[0], 0.0))
        if score.candidate.number:
            steps.append((score.candidate.number, best))
    return steps
