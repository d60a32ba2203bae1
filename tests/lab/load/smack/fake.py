"""An engine that sends nothing: it says of each job that all was done, with the figures of the fixtures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from mydyno.lab.load import messages
from mydyno.lab.load.job import Job
from mydyno.lab.load.messages import Message, PhaseEnd
from mydyno.machine.protocol import Host

_FIXTURES = Path(__file__).parents[3] / "fixtures" / "engine" / "messages"


def fixture(name: str) -> Message:
    return messages.parse((_FIXTURES / f"{name}.json").read_bytes())


def phase_end(statements: dict[str, int], connections: int = 2, **more: Any) -> PhaseEnd:
    """A phase of 0.3 s, 0.2 s of them measured, in which each kind of statement was sent so often."""
    end = fixture("phase_end")
    assert isinstance(end, PhaseEnd)
    example = end.statements["select_index"].model_copy(update={"errors": 0})
    kinds = {name: example.model_copy(update={"count": count}) for name, count in statements.items()}
    counts = {"connections_asked": connections, "connections_reached": connections}
    clean = {"errors": {}, "error_examples": {}, "started_ns": 401_000_000, "statements": kinds, **more}
    return end.model_copy(update={**counts, **clean})


MORE: dict[str, Any] = {}
"""What else each phase of the fake engine has, such as errors."""


class FakeEngine:
    """Takes the place of lab.load.engine.Engine; `jobs` are what it was given, as the engine reads it."""

    jobs: list[dict[str, Any]]

    def __init__(self, job: Job, host: Host) -> None:
        self._job = json.loads(job.to_wire())
        type(self).jobs.append(self._job)

    def __iter__(self) -> Iterator[Message]:
        yield fixture("hello")
        [phase] = self._job["phases"]
        sent: dict[str, int] = {}
        for name, times in _sends(self._job["workload"]["program"]["transactions"][0]["steps"], 1):
            times *= phase["connections"] * phase["work"]["rounds"]
            sent[name] = sent.get(name, 0) + times
        yield phase_end(sent, phase["connections"], **MORE)
        yield fixture("done")

    def request_stop(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def _sends(steps: list[dict[str, Any]], times: int) -> Iterator[tuple[str, int]]:
    for step in steps:
        if "send" in step:
            yield step["send"]["name"], times
        elif "repeat" in step:
            yield from _sends(step["repeat"]["steps"], times * step["repeat"]["times"])
