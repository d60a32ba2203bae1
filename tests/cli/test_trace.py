"""`mydyno capture` of files and `mydyno trace`: what people read, and what is refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mydyno.cli.main import app
from mydyno.core.errors import UsageError
from mydyno.machine.programs import find_program

LOGS = Path(__file__).parents[1] / "fixtures" / "slow-logs"


def mydyno(*words: object) -> str:
    """What the command prints. Raises what it raises."""
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False).output


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "a.trace"
    mydyno("capture", LOGS / "mysql-8.0-extra.log", "--out", path)
    return path


def test_a_trace_is_shown_to_people_and_programs(trace: Path) -> None:
    shown = mydyno("trace", "show", trace)
    summary = json.loads(mydyno("trace", "show", trace, "--json"))
    footer = summary["footer"]
    assert f"{footer['statements']} statement" in shown
    assert footer["statements"] == summary["reads"] + summary["writes"] + summary["other"] > 0
    assert sum(summary["rate"]) == footer["statements"]
    for group in summary["top"]:
        assert group["id"] in shown


def test_a_part_of_a_trace_is_a_trace(trace: Path, tmp_path: Path) -> None:
    summary = json.loads(mydyno("trace", "show", trace, "--json"))
    group = summary["top"][0]
    part = tmp_path / "part.trace"
    mydyno("trace", "filter", trace, "--fingerprint", group["id"], "--out", part)
    shown = json.loads(mydyno("trace", "show", part, "--json"))
    assert shown["top"] == [group]
    mydyno("trace", "cut", trace, "--until", "1h", "--out", part)
    mydyno("trace", "merge", trace, part, "--align", "start", "--out", tmp_path / "both.trace")
    both = json.loads(mydyno("trace", "show", tmp_path / "both.trace", "--json"))
    assert both["footer"]["statements"] > summary["footer"]["statements"]


def test_a_trace_with_a_synthetic_part_is_synthetic_and_shown_as_such(trace: Path, tmp_path: Path) -> None:
    made, both, part = (tmp_path / name for name in ("made.trace", "both.trace", "part.trace"))
    capture = [find_program("mydyno-engine"), "trace", "capture", LOGS / "mysql-8.0-extra.log", "--synthetic"]
    subprocess.run([*capture, "--out", made], check=True, capture_output=True)
    for first, second in ((trace, made), (made, trace)):
        merged = mydyno("trace", "merge", first, second, "--align", "start", "--out", both, "--force")
        assert "both.trace: synthetic, " in merged
    assert "part.trace: synthetic, " in mydyno("trace", "cut", both, "--until", "1h", "--out", part)
    for one in (made, both, part):
        assert json.loads(mydyno("trace", "show", one, "--json"))["header"]["source"] == "synthetic"
        assert mydyno("trace", "show", one).startswith(f"{one}: synthetic, ")
    assert "synthetic, " not in mydyno("trace", "show", trace)


@pytest.mark.parametrize("log", sorted(LOGS.glob("*.log")), ids=lambda path: path.stem)
def test_every_dialect_is_captured_and_all_statements_are_counted(log: Path, tmp_path: Path) -> None:
    mydyno("capture", log, "--out", tmp_path / "a.trace")
    footer = json.loads(mydyno("trace", "show", tmp_path / "a.trace", "--json"))["footer"]
    digest = json.loads(mydyno("digest", log, "--json"))
    skipped = sum(
        each["count"] for each in footer["skipped"] if each["kind"] in ("command", "broken-tail", "no-time")
    )
    closed = footer["closed"]
    assert footer["statements"] <= digest["total"]["count"] <= footer["statements"] + skipped + closed


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("trace", "show", "slow.log"), "slow.log is no trace: it is a slow log"),
        (("trace", "show", "none.trace"), "there is no such file"),
        (("trace", "show", "torn.trace"), "a trace that ends in the middle"),
        (("trace", "show", "newer.trace"), "a trace of format 9"),
        (("capture", "torn.trace", "--out", "b.trace"), "a trace of mydyno"),
        (("capture", "empty.log", "--out", "b.trace"), "nothing could be captured.*it is empty"),
        (("capture", "none.log", "--out", "b.trace"), "there is no such file"),
        (("digest", "torn.trace"), "a trace of mydyno: `mydyno trace show` reads it"),
        (
            ("trace", "cut", "a.trace", "--from", "2s", "--until", "1s", "--out", "b.trace"),
            "nothing is between",
        ),
        (("trace", "filter", "a.trace", "--matching", "(", "--out", "b.trace"), "--matching"),
        (("trace", "filter", "a.trace", "--fingerprint", "x", "--out", "b.trace"), "`x` is no fingerprint"),
        (("trace", "filter", "a.trace", "--reads-only", "--out", "a.trace"), "an input of this command"),
        (("trace", "merge", "a.trace", "--align", "x", "--out", "b.trace"), "--align x: no such way"),
    ],
)
def test_what_is_no_trace_or_no_log_is_named(
    trace: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], says: str
) -> None:
    folder = trace.parent
    monkeypatch.chdir(folder)
    (folder / "slow.log").write_bytes((LOGS / "mysql-5.6.log").read_bytes())
    (folder / "torn.trace").write_bytes(trace.read_bytes()[:-5])
    (folder / "newer.trace").write_bytes(trace.read_bytes()[:8] + b"\x09\0\0\0")
    (folder / "empty.log").touch()
    with pytest.raises(UsageError, match=says):
        mydyno(*words)
    assert not (folder / "b.trace").exists()
