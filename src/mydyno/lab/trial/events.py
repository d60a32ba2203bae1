"""What happens during a run, as a stream: written next to the results, read by every display.

A display (the terminal's, the page of `mydyno serve`) needs nothing but these events; it never asks the
campaign. `events.jsonl` in the run's folder holds them, one JSON object a line, `type` first. The number of
an event is that of its line, from 1; every start of the run adds lines and changes none.
"""

import dataclasses
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from mydyno.lab.results.records import Work


@dataclass(frozen=True)
class Event:
    """Something that happened; subclasses add what. `type` is the name of the class, as `run-started`."""

    type: ClassVar[str]
    host: str = field(default="", kw_only=True)
    """The host of the fleet where it happened; empty without a fleet."""

    def __init_subclass__(cls) -> None:
        cls.type = re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()


@dataclass(frozen=True)
class RunStarted(Event):
    experiment: str
    folder: str
    planned: int
    completed: int
    """Trials that an earlier start of this run has left ready."""
    expected_seconds: float
    low_seconds: float | None = None
    high_seconds: float | None = None
    """The range in which those of the whole run are expected; None: not known."""


@dataclass(frozen=True)
class TrialStarted(Event):
    trial: str
    number: int
    """1-based place among the planned trials."""
    planned: int
    block: int
    point: str
    """The point's title, as `thread_cache_size = 8`."""
    phases: int
    control: bool = False
    """Of an A/A over hosts, which is none of the planned trials: `number` and `planned` count its own."""


@dataclass(frozen=True)
class Step(Event):
    """A stretch of work without load: preparing the dataset, starting the server..."""

    text: str
    done: int | None = None
    of: int | None = None
    brief: bool = False
    """Over in an instant: shown where it is live, and no line in a log."""


@dataclass(frozen=True)
class PhaseStarted(Event):
    phase: int
    connections: int
    label: str | None = None
    """The test program or job, where the phase is one."""
    work: Work = "queries"


@dataclass(frozen=True)
class Measured(Event):
    """One interval of load, for the live figures. Percentiles are None when nothing finished."""

    phase: int
    connections: int
    queries_per_second: float
    p95_ns: int | None
    """Of statements or I/Os."""
    errors: int
    work: Work = "queries"
    transaction_p95_ns: int | None = None
    """None where transactions are not timed."""
    point: str = ""
    """Its title, where several are measured at the same time."""
    p50_ns: int | None = None
    p99_ns: int | None = None


@dataclass(frozen=True)
class Sampled(Event):
    """What the server has used since the last of these, at most one a second. None: not known."""

    server_cpu: float | None
    """CPUs: seconds of CPU time for each second."""
    read_bytes_per_second: float | None
    """Of the server's process, from disks."""
    write_bytes_per_second: float | None
    threads_created_per_second: float | None
    threads_connected: int | None
    point: str = ""
    """Its title, where several are measured at the same time."""


@dataclass(frozen=True)
class PhaseFinished(Event):
    phase: int
    connections: int
    queries_per_second: float | None
    p95_ns: int | None
    label: str | None = None
    work: Work = "queries"
    transaction_p95_ns: int | None = None
    point: str = ""
    """Its title, where several are measured at the same time."""


@dataclass(frozen=True)
class TrialFinished(Event):
    trial: str
    status: str
    """`valid`, `invalid`, or `failed` where nothing was measured."""
    reasons: tuple[str, ...]
    seconds: float
    control: bool = False
    """Of an A/A over hosts."""


@dataclass(frozen=True)
class HostLost(Event):
    """A host of the fleet does not answer. What it ran is measured again."""

    reason: str
    trial: str | None
    """The one that it ran."""
    hosts: int
    """How many are left."""


@dataclass(frozen=True)
class HostReturned(Event):
    """A lost host answers again."""


@dataclass(frozen=True)
class HostsCompared(Event):
    """The A/A over hosts has ended."""

    sentence: str
    """What it shows."""


@dataclass(frozen=True)
class Looked(Event):
    """A sequential design has looked at what is known after a block."""

    block: int
    half_width: float | None
    """Of the comparison that is known worst, 0.03 for ±3%; None when one has no interval yet."""
    wanted: float
    worst: str
    """The title of its point."""
    reached: bool
    """Every comparison is known so well that the run stops here."""
    last: bool
    """It stops in any case: these are the most repetitions that were allowed."""


@dataclass(frozen=True)
class Resting(Event):
    """The pause before a block, from the design."""

    block: int
    seconds: float


@dataclass(frozen=True)
class RunFinished(Event):
    valid: int
    invalid: int
    failed: int = 0
    """Trials of which nothing was measured, `invalid` does not count them."""


@dataclass(frozen=True)
class RunInterrupted(Event):
    completed: int
    planned: int


Listener = Callable[[Event], None]


class EventLog:
    """Appends every event to a file and hands it to the listeners."""

    def __init__(self, path: Path, listeners: tuple[Listener, ...] = ()) -> None:
        self._path = path
        self._listeners = listeners

    def __call__(self, event: Event) -> None:
        fields = dataclasses.asdict(event)
        if not event.host:
            del fields["host"]
        entry = {"type": event.type, "at": round(time.time(), 3), **fields}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        for listener in self._listeners:
            listener(event)
