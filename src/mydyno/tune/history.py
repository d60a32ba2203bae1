"""What a search has tried, and what came of it: the records that its journal keeps. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from mydyno.core.record import Record
from mydyno.lab.spec.search import Scalar

SERVER_CONFIG = "server.config"
Settings = Mapping[str, Any]
"""Path -> value, laid over the setup; `server.config` alone takes the place of all settings of the server."""
_Z = 1.96
State = Literal["measured", "failed", "unmeasured"]


class Candidate(Record):
    """Settings that are measured; number 0 is the start, the setup as it is in the file."""

    number: int
    origin: str
    """`start`, `default`, `tuning sheet`, `advice`, `screening`, `predicted` by it, or the sampler's name."""
    settings: dict[str, Any]
    point: dict[str, Scalar]
    """The nearest point of the space."""
    label: str | None = None

    @property
    def title(self) -> str:
        """The level's name in the lab."""
        return self.label or ("start" if self.number == 0 else f"trial {self.number}")


class Measured(Record):
    """One candidate in one round of a heat."""

    number: int
    values: dict[str, float] = Field(default_factory=dict)
    """Objective -> value as measured; empty: it could not be measured."""
    violations: tuple[str, ...] = ()
    failure: str | None = None
    """Why the server did not start, ended, or refused a setting."""


class Round(Record):
    """One round of a heat: every candidate that is still in it, and the leader, once."""

    kind: Literal["round"] = "round"
    heat: int
    round: int
    leader: int
    results: tuple[Measured, ...]
    run: str = ""
    """The run's folder in the lab; empty: every candidate was refused before it was measured."""
    seconds: float = 0.0
    """Since what was written before, or since the start; of rounds side by side, an equal part."""
    blocked: bool = False
    """Measured in blocks, since servers disturbed each other in slices; so are all rounds after it."""


class Heat(Record):
    """Candidates that race against the leader. Written before the first of them is measured."""

    kind: Literal["heat"] = "heat"
    number: int
    leader: int
    candidates: tuple[Candidate, ...]
    screening: bool = False


class HeatEnd(Record):
    """What a heat has decided."""

    kind: Literal["heat end"] = "heat end"
    number: int
    leader: int
    stopped: tuple[int, ...] = ()
    """Those that the test has stopped before the last round."""
    dropped: tuple[str, ...] = ()
    """After a screening: paths that are not varied any more."""


class Began(Record):
    """The search's first line: what all later ones are about."""

    kind: Literal["began"] = "began"
    mydyno: str
    name: str
    release: str
    fingerprint: str
    at: str
    seconds: float = 0.0
    """Until the first heat: checks, and a look at the start for advice."""


Event = Began | Heat | Round | HeatEnd


@dataclass(frozen=True)
class Score:
    """A candidate over all rounds: by objective the logarithm of its ratio to the start, larger is better."""

    candidate: Candidate
    state: State
    ratios: Mapping[str, float]
    rounds: int
    error: float | None
    """Standard error of the first objective's logarithm; None: not measured."""
    violations: tuple[str, ...] = ()
    failure: str | None = None
    stopped: bool = False

    @property
    def feasible(self) -> bool:
        return self.state == "measured" and not self.violations

    def ratio(self, objective: str) -> float | None:
        """Times as good as the start."""
        value = self.ratios.get(objective)
        return None if value is None else math.exp(value)

    def bounds(self, first_objective: str) -> tuple[float, float] | None:
        """The 95% interval of that objective's ratio; None: not measured, or the start itself."""
        value = self.ratios.get(first_objective)
        if value is None or not self.error:
            return None
        return math.exp(value - _Z * self.error), math.exp(value + _Z * self.error)
