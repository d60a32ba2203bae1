"""compare, baseline and trend as a CI job meets them: text, files and exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lab.report.builders import MemoryRun, thread_cache_run
from typer.testing import CliRunner, Result

from mydyno.cli.main import app
from mydyno.cli.outputs import COMPARISON_JSON, Outputs
from mydyno.core.errors import MydynoError
from mydyno.lab.results.store import Lab

pytestmark = pytest.mark.usefixtures("checked_charts")


def kept(folder: Path, made: MemoryRun, fingerprint: str, slower: float = 1.0, day: int = 1) -> str:
    """A run in the lab `folder`, every rate of which is `slower` times that of `made`; its name."""
    experiment = replace(
        made.experiment, plan_fingerprint=fingerprint, created_at=f"2026-01-{day:02d}T12:00:00Z"
    )
    with Lab.open(folder, write=True) as lab:
        run = lab.run(experiment, "{}")
        for trial in made.records:
            phases = tuple(
                replace(phase, queries_per_second=(phase.queries_per_second or 0) * slower)
                for phase in trial.phases
            )
            run.save_trial(
                replace(trial, phases=phases),
                samples=made.sample_frames[trial.trial_id],
                intervals=made.interval_frames[trial.trial_id],
                histograms={},
            )
        return run.folder.name


def small(seed: int) -> MemoryRun:
    return thread_cache_run(repeats=5, connections=(10, 50), invalid=(), seed=seed)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Two runs of one experiment, the newer one a tenth slower."""
    kept(tmp_path / "lab", small(1), "a" * 16)
    kept(tmp_path / "lab", small(2), "b" * 16, slower=0.9, day=2)
    return tmp_path / "lab"


def mydyno(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_newest_run_is_compared_with_the_one_before_and_the_gate_ends_with_8(
    lab: Path, tmp_path: Path
) -> None:
    files = {kind: tmp_path / f"gate.{kind}" for kind in ("json", "junit", "markdown")}
    options = [part for kind, path in files.items() for part in (f"--{kind}", path)]
    done = mydyno("compare", "thread-cache", "--lab", lab, "--fail-if-slower", "3%", *options)
    assert done.exit_code == 8, done.output
    assert done.output.count("FAILED") == 2, "both points are slower"
    found = json.loads(files["json"].read_text())
    assert found["state"] == "failed"
    assert [one["outcome"] for one in found["comparisons"]] == ["slower", "slower"]
    assert all(0.87 < one["ratio"] < 0.93 for one in found["comparisons"])
    suite = ElementTree.parse(files["junit"]).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert "### FAILED" in files["markdown"].read_text()


def test_a_pinned_baseline_takes_the_place_of_the_run_before(lab: Path) -> None:
    newest = kept(lab, small(3), "c" * 16, slower=0.9, day=3)
    unchanged = mydyno("compare", "thread-cache", "--lab", lab, "--fail-if-slower", "3%")
    assert unchanged.exit_code == 0, "the run before is as slow"
    first = "thread-cache-demo-aaaaaaaa"
    assert "baseline thread-cache is" in mydyno("baseline", "pin", first, "--lab", lab).output
    assert mydyno("compare", "thread-cache", "--lab", lab, "--fail-if-slower", "3%").exit_code == 8
    named = mydyno("compare", "baseline:thread-cache", newest, "--lab", lab, "--fail-if-slower", "12%")
    assert named.exit_code == 0, "a loss of 10% is allowed"
    assert first in mydyno("baseline", "list", "--lab", lab).output
    assert "the run" in mydyno("baseline", "unpin", "thread-cache", "--lab", lab).output
    with pytest.raises(MydynoError, match="has no baseline"):
        CliRunner().invoke(app, ["compare", "baseline:x", "--lab", str(lab)], catch_exceptions=False)


def test_two_labs_are_compared_under_the_names_that_are_given(lab: Path, tmp_path: Path) -> None:
    kept(tmp_path / "other", small(4), "d" * 16, slower=1.2)
    done = mydyno("compare", f"before={lab}:thread-cache-demo-aaaaaaaa", f"after={tmp_path / 'other'}")
    assert done.exit_code == 0, done.output
    assert "after against before: faster in 2 of 2 cases" in done.output.replace("\n", " ")


def test_fleets_that_share_no_host_are_not_compared_and_the_reason_is_shown(tmp_path: Path) -> None:
    for day, hosts in enumerate((("db1", "db2"), ("db3",)), 1):
        made = small(day)
        records = tuple(replace(trial, host=hosts[trial.block % len(hosts)]) for trial in made.records)
        kept(tmp_path / "lab", replace(made, records=records), f"{day}" * 16, day=day)
    for gate in ((), ("--fail-if-slower", "3%")):
        done = mydyno("compare", "thread-cache", "--lab", tmp_path / "lab", *gate)
        shown = " ".join(done.output.split())
        assert "cannot be compared with" in shown
        assert "it ran on db3, the other on db1 and db2" in shown
        assert "measure both on a host that they share" in shown
        assert "PASSED" not in shown


def test_a_run_against_itself_is_unsure_or_passed_and_never_failed(lab: Path) -> None:
    first = "thread-cache-demo-aaaaaaaa"
    done = mydyno("compare", f"a={first}", f"b={first}", "--lab", lab, "--fail-if-slower", "1%")
    assert done.exit_code == 0
    assert "FAILED" not in done.output


def test_the_whole_report_of_a_comparison_is_written(lab: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    assert mydyno("compare", "thread-cache", "--lab", lab, "--out", out).exit_code == 0
    assert "thread-cache-demo-bbbbbbbb" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["thread-cache@thread_cache_sise=8", "thread-cache"],
            "did you mean server.config.thread_cache_size",
        ),
        (["thread-cache@thread_cache_size=9", "thread-cache"], "has no level 9"),
        (["thread-cache@thread_cache_size=8", "thread-cache-demo-aaaaaaaa"], "varies in"),
        (["thread-cache-demo-aaaaaaaa"], "no run to be compared with"),
        (["thread-cash", "thread-cache"], "no run 'thread-cash' in"),
        (["thread-cache", "--fail-if-slower", "much"], "--fail-if-slower much: not a percentage"),
    ],
)
def test_what_cannot_be_compared_is_reported(lab: Path, arguments: list[str], complaint: str) -> None:
    with pytest.raises(MydynoError) as caught:
        CliRunner().invoke(app, ["compare", *arguments, "--lab", str(lab)], catch_exceptions=False)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", [("compare",), ("report",), ("trend",)])
def test_tables_fit_the_terminal(
    lab: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], columns: int, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = ("--out", str(tmp_path / "report")) if command == ("report",) else ()
    done = CliRunner().invoke(
        app, [*command, "thread-cache", *out, "--lab", str(lab)], catch_exceptions=False
    )
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("report ", "picture "))]
    assert max(map(len, lines)) <= columns
    assert done.exit_code == 0


def test_the_numbers_of_a_comparison_go_where_they_are_wanted(lab: Path, tmp_path: Path) -> None:
    def compare(*arguments: str) -> str:
        words = ["compare", "thread-cache", *arguments, "--lab", str(lab)]
        return CliRunner().invoke(app, words, catch_exceptions=False).stdout

    printed = json.loads(compare("--json"))
    assert not compare("--json", "--out", str(tmp_path / "numbers.json")).startswith("{")
    assert json.loads((tmp_path / "numbers.json").read_text()) == printed
    with pytest.raises(MydynoError, match="--out needs --json"):
        Outputs().json(False, tmp_path / "numbers.json", COMPARISON_JSON)


def test_a_trend_shows_the_run_since_which_it_is_slower(tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    for day in range(1, 11):
        made = thread_cache_run(repeats=3, connections=(10,), levels=(8,), invalid=(), seed=day)
        last = kept(lab, made, f"{day:08x}{'0' * 8}", slower=0.9 if day > 6 else 1.0, day=day)
    result = tmp_path / "trend.json"
    done = mydyno("trend", "--lab", lab, "--json", result, "--picture", tmp_path / "trend.png")
    assert done.exit_code == 0, done.output
    (trend,) = json.loads(result.read_text())
    (change,) = trend["changes"]
    assert change["since"] == "thread-cache-demo-00000007"
    assert not change["better"]
    assert 0.87 < change["ratio"] < 0.93
    assert trend["runs"][-1]["run"] == last
    assert (tmp_path / "trend.png").read_bytes().startswith(b"\x89PNG")
    assert "changed once in 10 runs" in done.output


def test_a_case_of_the_gate_is_named_by_its_factor_and_its_level(lab: Path) -> None:
    said = " ".join(mydyno("compare", "thread-cache", "--lab", lab, "--fail-if-slower", "3%").output.split())
    assert "FAILED thread_cache_size = 8: slower by 3% or more" in said
    assert "FAILED thread_cache_size = 450: slower by 3% or more" in said
