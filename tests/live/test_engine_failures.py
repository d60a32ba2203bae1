"""The load engine when things go wrong: full and dying servers, wrong passwords, signals, deaf readers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from live.conftest import Start
from live.engine import finish, job, listen_until, phase, rounds, run, start, timed
from live.programs import smack, sysbench
from mydyno.lab.stack import RunningServer
from mydyno.machine.programs import find_program

pytestmark = pytest.mark.live

FOREVER = timed(600.0)


@pytest.fixture
def loaded(server: RunningServer) -> RunningServer:
    assert run(job(server, smack())).exit_code == 0
    return server


def running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


def wait_until_gone(pid: int, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while running(pid):
        assert time.monotonic() < deadline, f"process {pid} still runs"
        time.sleep(0.01)


def test_a_wrong_password_is_fatal_and_never_shown(server: RunningServer) -> None:
    bad = job(server, smack())
    bad["target"]["password"] = "not-the-password"
    result = run(bad)
    fatal = result.the("fatal")
    assert (fatal["code"], result.exit_code) == ("auth", 3)
    assert "Access denied" in fatal["message"]
    assert "not-the-password" not in result.text


def test_a_server_that_is_not_there_is_fatal(server: RunningServer, tmp_path: Path) -> None:
    nowhere = job(server, smack())
    nowhere["target"]["socket"] = str(tmp_path / "none.sock")
    result = run(nowhere)
    assert (result.the("fatal")["code"], result.exit_code) == ("connect", 3)
    nowhere["target"] |= {"socket": None, "host": "127.0.0.1", "port": 1}
    assert run(nowhere).the("fatal")["code"] == "connect"


def test_a_job_that_makes_no_sense_is_refused_before_the_server_is_touched(server: RunningServer) -> None:
    empty = {"script": "oltp_write_only", "skip_trx": True, "index_updates": 0}
    workload = {"sysbench": empty | {"non_index_updates": 0, "delete_inserts": 0}}
    result = run(job(server, workload))
    assert (result.the("fatal")["code"], result.exit_code) == ("bad-job", 2)
    assert result.kinds == ["fatal"]


def test_connections_beyond_the_servers_limit_are_counted_as_failed(start: Start) -> None:
    server = start({"max_connections": 12})
    # One more than max_connections may be used by an administrator: the engine is one here.
    result = run(job(server, smack(), phase(30, rounds(10))))
    connected = result.the("connected")
    end = result.the("phase_end")
    assert connected["reached"] + connected["failed"] == 30
    assert 12 <= connected["reached"] <= 13
    assert connected["errors"] == {"1040": connected["failed"]}
    assert end["connections_reached"] == connected["reached"]
    assert end["queries"]["count"] == connected["reached"] * 20
    assert result.the("done")["exit"] == "ok"


def test_a_phase_without_any_connection_is_aborted(loaded: RunningServer) -> None:
    nowhere = job(loaded, smack(), phase(3, rounds(1)), prepare="none")
    nowhere["target"]["database"] = "no_such_database"
    result = run(nowhere)
    assert result.the("connected")["errors"] == {"1049": 3}
    assert "Unknown database" in result.the("phase_end")["aborted"]
    assert result.the("phase_end")["measured_from_ns"] is None
    assert result.the("done")["exit"] == "aborted"


def test_a_server_killed_in_a_phase_aborts_it_with_what_was_measured(start: Start) -> None:
    server = start()
    assert run(job(server, smack())).exit_code == 0
    sampling = {"interval_s": 0.1, "server_pid": server.pid}
    engine = _begin(server, phase(8, FOREVER), phase(8, FOREVER), sampling=sampling)
    said = listen_until(engine, "interval")
    killed = time.monotonic()
    os.kill(server.pid, signal.SIGKILL)
    result = finish(engine, said)
    assert time.monotonic() - killed < 30
    end = result.the("phase_end")
    assert end["queries"]["count"] > 0
    assert "gone" in end["aborted"]
    assert sum(end["errors"].values()) == 8
    assert set(end["errors"]) <= {"2006", "2013"}
    assert (result.the("done")["exit"], result.exit_code) == ("aborted", 0)
    samples = result.of("sample")
    assert samples[0]["status"]["Threads_connected"]
    assert samples[-1]["status"] is None


def test_one_lost_connection_does_not_end_the_phase(loaded: RunningServer) -> None:
    engine = _begin(loaded, phase(4, timed(1.0)))
    said = listen_until(engine, "measuring")
    with loaded.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT id FROM information_schema.processlist WHERE db = 'engine_test'")
        found = cursor.fetchone()
        assert found is not None
        cursor.execute(f"KILL {found[0]}")
    result = finish(engine, said)
    end = result.the("phase_end")
    assert end["aborted"] is None
    assert sum(end["errors"].values()) in (1, 2), "the statement may be told before the connection is lost"
    assert result.of("interval")[-1]["connections"] == 3
    assert result.the("done")["exit"] == "ok"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_phase_at_once_and_keeps_what_was_measured(
    loaded: RunningServer, number: signal.Signals
) -> None:
    engine = _begin(loaded, phase(4, FOREVER), phase(4, FOREVER))
    said = listen_until(engine, "interval")
    engine.send_signal(number)
    asked = time.monotonic()
    result = finish(engine, said)
    assert time.monotonic() - asked < 30
    end = result.the("phase_end")
    assert end["interrupted"]
    assert end["queries"]["count"] > 0
    assert end["measured_to_ns"] > end["measured_from_ns"]
    assert (result.the("done")["exit"], result.exit_code) == ("interrupted", 0)


def test_a_signal_ends_an_open_loop_that_the_server_blocks(loaded: RunningServer) -> None:
    with loaded.connect() as connection, connection.cursor() as cursor:
        cursor.execute("LOCK TABLES engine_test.http_auth WRITE")
        engine = _begin(loaded, phase(2, FOREVER, arrival={"kind": "poisson", "rate": 100.0}))
        said = listen_until(engine, "interval")
        engine.send_signal(signal.SIGTERM)
        result = finish(engine, said)
    assert result.the("done")["exit"] == "interrupted"
    assert result.the("phase_end")["queries"]["count"] == 0


def test_a_signal_ends_the_wait_for_a_server_that_hangs(start: Start) -> None:
    server = start()
    os.kill(server.pid, signal.SIGSTOP)
    try:
        engine = _begin(server, phase(1, rounds(1)))
        _wait_until_signals_are_held_back(engine.pid)
        engine.send_signal(signal.SIGTERM)
        result = finish(engine)
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert result.kinds == ["done"]
    assert result.the("done")["exit"] == "interrupted"


def test_a_signal_ends_a_pause(loaded: RunningServer) -> None:
    engine = _begin(loaded, phase(1, rounds(1), pause_s=600.0), phase(1, rounds(1)))
    said = listen_until(engine, "phase_end")
    engine.send_signal(signal.SIGTERM)
    result = finish(engine, said)
    assert len(result.of("phase_end")) == 1
    assert result.the("done")["exit"] == "interrupted"


def test_a_signal_ends_the_loading_of_tables(server: RunningServer) -> None:
    engine = start(job(server, sysbench("oltp_read_only", table_size=5_000_000), prepare="create"))
    said = listen_until(engine, "progress")
    engine.send_signal(signal.SIGTERM)
    asked = time.monotonic()
    result = finish(engine, said)
    assert time.monotonic() - asked < 30
    assert result.the("done")["exit"] == "interrupted"
    assert result.of("prepared") == []
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE engine_test.sbtest1")


def test_an_engine_that_nobody_listens_to_ends(loaded: RunningServer) -> None:
    engine = _begin(loaded, phase(2, FOREVER))
    listen_until(engine, "measuring")
    assert engine.stdout is not None
    engine.stdout.close()
    assert engine.wait(timeout=10) == 3


def test_an_engine_dies_with_the_process_that_started_it(loaded: RunningServer, tmp_path: Path) -> None:
    """A parent starts the engine with its output in a file, says its pid, and is killed."""
    text = json.dumps(job(loaded, smack(), phase(2, FOREVER), prepare="none"))
    program = (
        "import subprocess, sys, time\n"
        f"out = open({str(tmp_path / 'messages')!r}, 'w')\n"
        f"engine = subprocess.Popen([{str(find_program('mydyno-engine'))!r}, 'run'],"
        " stdin=subprocess.PIPE, stdout=out)\n"
        "engine.stdin.write(sys.stdin.buffer.read())\n"
        "engine.stdin.close()\n"
        "print(engine.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(text)
    parent.stdin.close()
    engine = int(parent.stdout.readline())
    deadline = time.monotonic() + 10
    while "measuring" not in (tmp_path / "messages").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until_gone(engine)


def test_too_few_open_files_are_reported_with_the_limit(loaded: RunningServer) -> None:
    program = f"ulimit -n 100; exec {find_program('mydyno-engine')} load"
    text = json.dumps(job(loaded, smack(), phase(200, rounds(1))))
    result = subprocess.run(["bash", "-c", program], input=text, capture_output=True, text=True, check=False)
    fatal = json.loads(result.stdout)
    assert (fatal["code"], result.returncode) == ("internal", 3)
    assert "200 connections need" in fatal["message"]
    assert "may have 100" in fatal["message"]


def test_a_thousand_connections_need_little_memory(start: Start) -> None:
    server = start({"max_connections": 1100})
    run(job(server, smack()))
    result = run(job(server, smack(), phase(1000, rounds(3)), prepare="none"))
    assert result.the("phase_end")["connections_reached"] == 1000
    assert result.the("phase_end")["queries"]["count"] == 6000
    assert result.the("done")["peak_rss_bytes"] < 64_000_000


def test_a_loaded_engine_stops_for_a_second_signal_at_once(loaded: RunningServer) -> None:
    with loaded.connect() as connection, connection.cursor() as cursor:
        cursor.execute("LOCK TABLES engine_test.http_auth WRITE")
        engine = _begin(loaded, phase(2, FOREVER))
        listen_until(engine, "measuring")
        engine.send_signal(signal.SIGTERM)
        again = threading.Timer(0.2, engine.send_signal, [signal.SIGTERM])
        again.start()
        assert engine.wait(timeout=10) in (0, 130)
        again.join()
        assert engine.stdout is not None
        engine.stdout.close()


def _begin(server: RunningServer, *phases: dict[str, object], **more: object) -> subprocess.Popen[str]:
    return start(job(server, smack(), *phases, prepare="none", interval_s=0.1, **more))


def _wait_until_signals_are_held_back(pid: int) -> None:
    wanted = 1 << (signal.SIGTERM - 1)
    deadline = time.monotonic() + 10
    while True:
        status = Path(f"/proc/{pid}/status").read_text()
        [blocked] = [line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:")]
        if int(blocked, 16) & wanted:
            return
        assert time.monotonic() < deadline
        time.sleep(0.01)
