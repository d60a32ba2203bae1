"""Sampling beside a foreign program, with a stand-in for the engine."""

from __future__ import annotations

import json
from pathlib import Path
from queue import SimpleQueue

import pytest

from mydyno.core.errors import EngineError
from mydyno.core.secrets import Secret
from mydyno.lab.load import messages
from mydyno.lab.load.external.foreign import Clock, Watch
from mydyno.lab.load.job import Sampling, Target

FIXTURES = Path(__file__).parents[3] / "fixtures" / "engine" / "messages"
TARGET = Target(user="root", password=Secret("x"), database="db", socket=Path("/nowhere/s.sock"))


def engine(
    folder: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, after: str, before: str = ":"
) -> Path:
    """An engine that started half a second after `clock` and says a sample; its job goes to a file."""
    hello = json.loads((FIXTURES / "hello.json").read_text())
    hello["started_unix_ns"] = clock.started_unix_ns + 500_000_000
    sample = json.loads((FIXTURES / "sample.json").read_text()) | {"t_ns": 1_000_000_000}
    path = folder / "engine"
    path.write_text(
        f"#!/bin/sh\n{before}\ncat >{folder}/job\n"
        f"echo '{json.dumps(hello)}'\necho '{json.dumps(sample)}'\n{after}\n"
    )
    path.chmod(0o755)
    monkeypatch.setenv("MYDYNO_ENGINE", str(path))
    return folder / "job"


def test_samples_come_on_the_clock_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock.start()
    done = tmp_path / "done"
    done.write_text(json.dumps(json.loads((FIXTURES / "done.json").read_text())) + "\n")
    # Whoever has heard it may end it: the trap is there first.
    trap = f"trap 'cat {done}; exit' TERM"
    job = engine(tmp_path, monkeypatch, clock, "while :; do sleep 0.01; done", before=trap)
    heard: SimpleQueue[messages.Sample | Exception] = SimpleQueue()
    watch = Watch(TARGET, Sampling(0.5, 42), clock, heard.put)
    sample = heard.get(timeout=30)
    watch.stop()
    assert isinstance(sample, messages.Sample)
    assert sample.t_ns == 1_500_000_000
    assert heard.empty()
    asked = json.loads(job.read_text())
    assert (asked["workload"], asked["phases"]) == ({"watch": {}}, [])
    assert asked["target"]["database"] == "information_schema"
    assert asked["sampling"] == {"interval_s": 0.5, "server_pid": 42}


def test_an_engine_that_ends_by_itself_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock.start()
    engine(tmp_path, monkeypatch, clock, "exit 9")
    heard: SimpleQueue[messages.Sample | Exception] = SimpleQueue()
    watch = Watch(TARGET, Sampling(0.5, None), clock, heard.put)
    assert isinstance(heard.get(timeout=30), messages.Sample)
    error = heard.get(timeout=30)
    watch.stop()
    assert isinstance(error, EngineError)
    assert "exit code 9" in str(error)
