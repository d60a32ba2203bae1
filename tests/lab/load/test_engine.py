"""How mydyno takes an engine that is missing, foreign or broken: real child processes, no server."""

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from mydyno.core.errors import EngineError, MissingToolError, UsageError
from mydyno.core.secrets import Secret
from mydyno.lab.load import engine
from mydyno.lab.load.job import Job, Phase, Target, closed_loop, rounds
from mydyno.machine.local import LocalHost
from mydyno.machine.programs import find_program

PROGRAM = {
    "name": "ping",
    "transactions": [{"name": "ping", "steps": [{"send": {"name": "ping", "sql": ["SELECT 1"]}}]}],
}


def job(**changes: object) -> Job:
    target = Target(user="root", password=Secret("x"), database="mydyno", socket=Path("/nowhere/s.sock"))
    values: dict[str, object] = {
        "target": target,
        "seed": 1,
        "workload": {"program": PROGRAM},
    }
    return Job(**(values | changes))  # type: ignore[arg-type]


def program(folder: Path, text: str) -> str:
    path = folder / "engine"
    path.write_text(f"#!/bin/sh\ncat >/dev/null\n{text}\n")
    path.chmod(0o755)
    return str(path)


def hear(one: Job) -> list[object]:
    with engine.Engine(one, LocalHost()) as running:
        return list(running)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(EngineError, match=r"/nowhere/s\.sock"):
        hear(job())


def test_a_job_that_the_engine_refuses_is_a_wrong_use() -> None:
    with pytest.raises(UsageError, match="transactions"):
        hear(job(workload={"program": {"name": "ping", "transactions": "nonsense"}}))
    with pytest.raises(UsageError, match="connections"):
        hear(job(phases=(Phase(0, closed_loop(), rounds(1)),)))


def test_a_binary_that_does_not_exist_is_named_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYDYNO_ENGINE", "/nowhere/mydyno-engine")
    with pytest.raises(MissingToolError, match="MYDYNO_ENGINE names /nowhere/mydyno-engine"):
        find_program("mydyno-engine")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo 'out of luck' >&2; exit 9", "without finishing .exit code 9.: out of luck"),
        ("echo 'hello world'", "does not understand"),
        ("exit 0", "without finishing"),
        ("kill -9 $$", "killed by SIGKILL"),
    ],
)
def test_a_broken_engine_ends_in_an_error_that_says_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    monkeypatch.setenv("MYDYNO_ENGINE", program(tmp_path, text))
    with pytest.raises(EngineError, match=expected):
        hear(job())


def test_an_engine_of_another_release_is_distinguished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hello = (
        (Path(__file__).parents[2] / "fixtures" / "engine" / "messages" / "hello.json").read_text().strip()
    )
    older = hello.replace('"protocol":3', '"protocol":99').replace('"protocol": 3', '"protocol": 99')
    monkeypatch.setenv("MYDYNO_ENGINE", program(tmp_path, f"echo '{older}'"))
    with pytest.raises(EngineError, match="speaks protocol 99"):
        hear(job())


def test_an_engine_that_was_killed_says_that_memory_may_have_run_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYDYNO_ENGINE", program(tmp_path, "kill -9 $$"))
    with pytest.raises(EngineError) as failed:
        hear(job())
    assert failed.value.hint is not None
    assert "memory" in failed.value.hint


def test_a_stopped_engine_is_killed_after_a_silence_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_SILENT_S", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        target = Target(
            user="root",
            password=Secret("x"),
            database="mydyno",
            host="127.0.0.1",
            port=silent.getsockname()[1],
        )
        begun = time.monotonic()
        with engine.Engine(job(target=target), LocalHost()) as running:
            os.kill(running.pid, signal.SIGSTOP)
            with pytest.raises(EngineError, match="sent no message for 2 s"):
                list(running)
            stopped = running.pid
        assert time.monotonic() - begun < 10, "the silence, and no waiting for a stopped process to end"
    assert not Path(f"/proc/{stopped}").exists()


def test_an_engine_that_says_that_it_is_alive_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SILENT_S", 2)
    alive = """for _ in 1 2 3 4 5 6; do echo '{"type":"alive","t_ns":1}'; sleep 0.5; done"""
    monkeypatch.setenv("MYDYNO_ENGINE", program(tmp_path, alive))
    with engine.Engine(job(), LocalHost()) as running, pytest.raises(EngineError, match="without finishing"):
        list(running)
