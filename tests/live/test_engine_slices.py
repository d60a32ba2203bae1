"""Two real servers in one job, driven in slices."""

from __future__ import annotations

import os
import signal

import pytest

from live.conftest import Start
from live.engine import Record, Run, finish, listen_until, phase, run, target, timed
from live.engine import start as begin
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live

Pair = tuple[RunningServer, RunningServer]
CONNECTIONS = 4


@pytest.fixture
def pair(server: RunningServer, start: Start) -> Pair:
    pair = (server, start())
    for one in pair:
        with one.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE IF NOT EXISTS engine_test")
    return pair


def sliced(servers: Pair, measure_s: float, sql: str = "DO 1", **slices: float) -> Record:
    step = {"send": {"name": "do", "sql": [sql]}}
    workload = {"program": {"name": "do", "transactions": [{"name": "do", "steps": [step]}]}}
    return {
        "protocol": 3,
        "servers": [
            {
                "target": target(one),
                "workload": workload,
                "phases": [phase(CONNECTIONS, timed(measure_s))],
                "sampling": {"interval_s": 60.0, "server_pid": one.pid},
            }
            for one in servers
        ],
        "slices": {"slice_s": 0.1, "longest_s": 0.1, "order": [[0, 1], [1, 0]], **slices},
    }


def ends(result: Run) -> list[Record]:
    return sorted(result.of("phase_end"), key=lambda end: int(end["server"]))


def test_both_servers_are_driven_over_connections_that_stay_open_and_the_idle_one_rests(pair: Pair) -> None:
    before = [server.status() for server in pair]
    result = run(sliced(pair, 1.0))
    assert result.exit_code == 0
    assert [hello["server"] for hello in result.of("hello")] == [0, 1]
    assert {sample["server_number"] for sample in result.of("sample")} == {0, 1}
    slices = result.of("slice")
    for number, (server, end) in enumerate(zip(pair, ends(result), strict=True)):
        own = [one for one in slices if one["server"] == number]
        assert end["measured_s"] == pytest.approx(1.0)
        assert sum(one["queries"] for one in own if not one["warmup"]) == end["queries"]["count"] > 0
        status = server.status()
        sent = int(status["Com_do"]) - int(before[number]["Com_do"])
        counted = sum(one["queries"] for one in own)
        # What ends after its slice is not counted: at most one statement of each connection, or a few more
        # where the reactor had to wait for a CPU.
        assert counted <= sent <= 2 * counted
        opened = int(status["Connections"]) - int(before[number]["Connections"])
        # The first connection of the engine, the sampler's and the one of this test are among them.
        assert opened <= CONNECTIONS + 3
        busy, idle = (
            sum(use["cpu_user_s"] + use["cpu_system_s"] for use in uses)
            for uses in (
                [one["usage"][number] for one in own],
                [one["usage"][number] for one in slices if one["server"] != number],
            )
        )
        assert idle < busy / 2


def test_a_server_that_is_killed_is_aborted_and_the_other_one_goes_on(pair: Pair) -> None:
    running = begin(sliced(pair, 1.0))
    said = listen_until(running, "measuring")
    os.kill(pair[1].pid, signal.SIGKILL)
    result = finish(running, said)
    first, second = ends(result)
    assert (first["aborted"], first["measured_s"]) == (None, pytest.approx(1.0))
    assert "the server is gone" in second["aborted"]
    assert result.the("done")["exit"] == "ok"
    assert result.of("slice")[-1]["server"] == 0


@pytest.mark.parametrize(("longest_s", "slice_s"), [(0.25, 0.25), (5.0, 0.3)], ids=["longest", "five rounds"])
def test_slow_statements_lengthen_the_slices(pair: Pair, longest_s: float, slice_s: float) -> None:
    # Longer than a slice of 0.1 s, so that it drains for 0.08 s at least, however late it begins.
    result = run(sliced(pair, 1.5, "SELECT SLEEP(0.18)", longest_s=longest_s))
    lengths = {one["to_ns"] - one["from_ns"] for one in result.of("slice") if not one["warmup"]}
    assert lengths == {round(slice_s * 1e9)}
    for end in ends(result):
        assert end["measured_s"] == pytest.approx(1.5)
        assert end["queries"]["count"] >= CONNECTIONS


def test_an_interrupted_run_gives_the_results_of_both_servers(pair: Pair) -> None:
    running = begin(sliced(pair, 600.0))
    said = listen_until(running, "measuring")
    running.send_signal(signal.SIGINT)
    result = finish(running, said)
    assert [(end["interrupted"], end["aborted"]) for end in ends(result)] == [(True, None)] * 2
    assert (result.the("done")["exit"], result.exit_code) == ("interrupted", 0)
