"""`mydyno capture` on real servers: what they were sent is in the trace, and every setting is as before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from live.slow_servers import run, server, set_globals, unchanged, variables
from live.test_slowlog import Slowlog, _child_of, slowlog
from mydyno.core.errors import UsageError

pytestmark = pytest.mark.live

__all__ = ["server", "slowlog"]

_OURS = ("--matching", "captured-[0-9]")
"""Other statements on these servers are those of mydyno and of the tests."""


def _shown(trace: Path) -> dict[str, Any]:
    from typer.testing import CliRunner

    from mydyno.cli.main import app

    part = trace.with_suffix(".part.trace")
    runner = CliRunner()
    runner.invoke(app, ["trace", "filter", str(trace), *_OURS, "--out", str(part)], catch_exceptions=False)
    shown = runner.invoke(app, ["trace", "show", str(part), "--json"], catch_exceptions=False)
    summary: dict[str, Any] = json.loads(shown.output)
    return summary


def _counts(summary: dict[str, Any]) -> dict[str, int]:
    return {group["fingerprint"]: group["statements"] for group in summary["top"]}


def test_what_a_server_was_sent_is_in_the_trace_as_in_its_general_log(
    slowlog: Slowlog, tmp_path: Path
) -> None:
    login = slowlog.server.login
    trace, general = tmp_path / "a.trace", tmp_path / "general.log"
    before = variables(login)
    set_globals(login, general_log_file=str(general), general_log="ON")
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
        set_globals(login, general_log=before["general_log"], general_log_file=before["general_log_file"])
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
    import os
    import signal

    with unchanged(slowlog.server.login):
        child = slowlog.start("--for", "1h", "--out", str(tmp_path / "a.trace"), command="capture")
        slowlog.wait_until_it_watches(child)
        os.kill(_child_of(child.pid), signal.SIGKILL)
        child.kill()
        child.communicate(timeout=60)
        assert len(slowlog.store.unfinished()) == 1
        slowlog.run("capture", "--for", "1ms", "--out", str(tmp_path / "b.trace"))
    assert slowlog.store.unfinished() == []


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_done(
    slowlog: Slowlog, tmp_path: Path
) -> None:
    with unchanged(slowlog.server.login):
        for out, says in ((tmp_path / "no" / "a.trace", "there is no folder"), (slowlog.options, "an input")):
            with pytest.raises(UsageError, match=says):
                slowlog.run("capture", "--for", "1s", "--out", str(out))
