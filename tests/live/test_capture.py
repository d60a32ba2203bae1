"""`mydyno capture` on real servers: what they were sent is in the trace, and every setting is as before."""

from __future__ import annotations

import json
import os
import signal
import struct
from pathlib import Path
from typing import Any

import pymysql
import pytest
from typer.testing import CliRunner

from live.packets import pcap_of, recorded
from live.slow_servers import run, server, set_globals, unchanged, variables
from live.test_slowlog import Slowlog, _child_of, slowlog
from mydyno.cli.main import app
from mydyno.core.errors import UsageError

pytestmark = pytest.mark.live

__all__ = ["server", "slowlog"]

_OURS = ("--matching", "captured-[0-9]")
"""Other statements on these servers are those of mydyno and of the tests."""


def _mydyno(*words: str) -> str:
    return CliRunner().invoke(app, words, catch_exceptions=False).output


def _shown(trace: Path) -> dict[str, Any]:
    part = trace.with_suffix(".part.trace")
    _mydyno("trace", "filter", str(trace), *_OURS, "--out", str(part))
    summary: dict[str, Any] = json.loads(_mydyno("trace", "show", str(part), "--json"))
    return summary


def _counts(summary: dict[str, Any]) -> dict[str, int]:
    return {group["fingerprint"]: group["statements"] for group in summary["top"]}


def test_what_a_server_was_sent_is_in_the_trace_as_in_its_general_log(
    slowlog: Slowlog, tmp_path: Path
) -> None:
    login = slowlog.server.login
    trace = tmp_path / "a.trace"
    before = variables(login)
    general = Path(before["datadir"]) / before["general_log_file"]
    set_globals(login, general_log="ON")
    try:
        with unchanged(login):
            child = slowlog.start("--for", "1h", "--out", str(trace), command="capture")
            said = slowlog.wait_until_it_watches(child)
            run(login, *["SELECT 'captured-1', 5"] * 7, "SELECT 'captured-2' FROM (SELECT 1) AS t")
            run(login, "SELECT SLEEP(0.2), 'captured-3'", "SET @a = 'captured-4'")
            child.terminate()
            output, rest = child.communicate(timeout=60)
            assert child.returncode == 0, rest
    finally:
        set_globals(login, general_log=before["general_log"])
    assert b"statements a second now" in said
    assert b"all settings are restored" in rest
    assert b"a.trace: " in output
    assert trace.stat().st_mode & 0o777 == 0o600
    assert slowlog.run("capture", str(general), "--out", str(tmp_path / "general.trace")).exit_code == 0
    captured, logged = _shown(trace), _shown(tmp_path / "general.trace")
    assert _counts(captured) == _counts(logged)
    assert captured["footer"]["statements"] == 10
    assert captured["footer"]["connections"] == logged["footer"]["connections"] == 2
    assert captured["header"]["source"] == "slow-log"
    (slept,) = [group for group in captured["top"] if "sleep" in group["fingerprint"]]
    assert slept["duration_us"] >= 200_000
    assert logged["header"]["source"] == "general-log"
    assert logged["top"][0]["duration_us"] is None


def test_a_kill_while_it_captures_leaves_no_setting_and_no_trace(slowlog: Slowlog, tmp_path: Path) -> None:
    trace = tmp_path / "a.trace"
    with unchanged(slowlog.server.login):
        child = slowlog.start("--for", "1h", "--out", str(trace), command="capture")
        slowlog.wait_until_it_watches(child)
        child.kill()
        child.communicate(timeout=60)
        slowlog.wait_for_the_guardian()
    assert slowlog.store.unfinished() == []
    assert list(tmp_path.glob("*.trace*")) == []


def test_a_kill_of_both_is_put_back_by_the_next_capture(slowlog: Slowlog, tmp_path: Path) -> None:
    with unchanged(slowlog.server.login):
        child = slowlog.start("--for", "1h", "--out", str(tmp_path / "a.trace"), command="capture")
        slowlog.wait_until_it_watches(child)
        os.kill(_child_of(child.pid), signal.SIGKILL)
        child.kill()
        child.communicate(timeout=60)
        assert len(slowlog.store.unfinished()) == 1
        result = slowlog.run("capture", "--for", "1ms", "--out", str(tmp_path / "b.trace"))
        assert "everything has been restored" in result.output
        # Nobody used the server.
        assert "b.trace: 0 statements of 0 connections" in result.output
    assert slowlog.store.unfinished() == []


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_done(
    slowlog: Slowlog, tmp_path: Path
) -> None:
    with unchanged(slowlog.server.login):
        for out, says in ((tmp_path / "no" / "a.trace", "there is no folder"), (slowlog.options, "an input")):
            with pytest.raises(UsageError, match=says):
                slowlog.run("capture", "--for", "1s", "--out", str(out))


def test_what_clients_sent_through_a_recorded_port_is_in_the_trace_with_what_became_of_it(
    slowlog: Slowlog, tmp_path: Path
) -> None:
    login = slowlog.server.login
    with recorded(login.socket) as (port, sent):
        client = pymysql.connect(
            host="127.0.0.1",
            port=port,
            user=login.user,
            password=login.password.reveal(),
            autocommit=True,
            ssl_disabled=True,
        )
        with client.cursor() as cursor:
            cursor.execute("DROP DATABASE IF EXISTS captured")
            cursor.execute("CREATE DATABASE captured")
            client.select_db("captured")
            cursor.execute("CREATE TABLE t (a INT, b VARCHAR(20)) -- captured-0")
            assert cursor.execute("INSERT INTO t VALUES (1, 'captured-1'), (2, 'x'), (3, 'y')") == 3
            assert cursor.execute("SELECT * FROM t WHERE a > 1 OR b = 'captured-2'") == 2
            with pytest.raises(pymysql.err.Error):
                cursor.execute("SELECT nope, 'captured-3'")
        _prepared(client)
        client.close()
    (tmp_path / "a.pcap").write_bytes(pcap_of(sent, whole=True))
    slowlog.run("capture", str(tmp_path / "a.pcap"), "--out", str(tmp_path / "a.trace"))
    shown = _shown(tmp_path / "a.trace")
    assert shown["header"]["source"] == "packets"
    assert shown["footer"]["skipped"] == []
    assert (shown["footer"]["connections"], shown["footer"]["closed"]) == (1, 1)
    assert (shown["footer"]["statements"], shown["errors"], shown["prepared"]) == (5, 1, 1)
    assert {(each["name"], each["statements"]) for each in shown["schemas"]} == {("captured", 5)}
    assert shown["users"][0]["name"] == login.user
    bound = "SELECT a FROM t WHERE a = 2 AND b <> 'captured-4''s'"
    _mydyno(
        *("trace", "filter", str(tmp_path / "a.trace"), "--matching", bound),
        *("--out", str(tmp_path / "bound.trace")),
    )
    found = _mydyno("trace", "show", str(tmp_path / "bound.trace"), "--json")
    assert json.loads(found)["footer"]["statements"] == 1


def _prepared(client: pymysql.Connection[Any]) -> None:
    """Executes a prepared statement in the binary protocol, which pymysql itself does not use."""
    client._execute_command(0x16, "SELECT a FROM t WHERE a = ? AND b <> ?")
    answer = client._read_packet().get_all_data()
    statement, columns, parameters = struct.unpack("<xIHH", answer[:9])
    for definitions in (parameters, columns):
        for _ in range(definitions + 1):
            client._read_packet()
    value = b"captured-4's"
    values = struct.pack("<q", 2) + bytes([len(value)]) + value
    client._execute_command(
        0x17, struct.pack("<IBI", statement, 0, 1) + b"\0\1" + struct.pack("<HH", 0x08, 0xFD) + values
    )
    ends = 0
    while ends < 2:  # Behind the columns and behind the rows.
        ends += client._read_packet().is_eof_packet()
    client._execute_command(0x19, struct.pack("<I", statement))
