"""What the shell completes, through the variables by which a shell asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lab.report.builders import thread_cache_run
from typer.testing import CliRunner

from cli.test_compare import kept
from mydyno.advisor.registry import RULES
from mydyno.cli.main import app
from mydyno.lab.analysis import metrics
from mydyno.lab.workload import builtin_names
from mydyno.server.releases import KNOWN


def completed(words: str) -> list[str]:
    """What completes the last word of a command line; after a blank, a new word."""
    variables = {
        "_MYDYNO_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = CliRunner().invoke(app, prog_name="mydyno", env=variables)
    return [line.split("\t")[0] for line in done.output.splitlines() if line]


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    kept(tmp_path / "lab", thread_cache_run(), "plan")
    return tmp_path / "lab"


def test_experiments_that_come_with_mydyno_are_completed_by_name_and_files_here_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "three.yaml").touch()
    (tmp_path / "three.txt").touch()
    assert completed("mydyno run th") == ["thread-cache", "three.yaml"]
    assert "raid-mysql" in completed("mydyno plan ")


def test_runs_of_the_lab_are_completed(lab: Path) -> None:
    assert "thread-cache" in completed(f"mydyno report --lab {lab} thr")
    names = completed(f"mydyno report --lab {lab} thread-cache-")
    assert names == [path.name for path in (lab / "runs").iterdir()]


def test_rules_are_completed_one_by_one_in_a_list() -> None:
    assert completed("mydyno rules show swappi") == ["swappiness"]
    assert completed("mydyno apply advice.json --only buffer-pool,swappi") == ["buffer-pool,swappiness"]
    assert completed("mydyno rules show ") == [rule.id for rule in RULES]


def test_metrics_workloads_and_releases_are_completed() -> None:
    assert "latency_p95" in completed("mydyno report --metric latency")
    assert set(completed("mydyno report --metric ")) == {
        metric.name for metric in (*metrics.OF_QUERIES, *metrics.OF_IOS)
    }
    assert completed("mydyno workload show ") == sorted(builtin_names())
    assert completed("mydyno servers add ") == list(KNOWN)
    assert completed("mydyno variables --release sys") == ["system"]


def test_nothing_is_completed_and_nothing_is_printed_where_the_lab_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "lab.sqlite").write_bytes(b"damaged")
    for lab in (tmp_path, tmp_path / "none"):
        assert completed(f"mydyno report --lab {lab} ") == []


@pytest.mark.parametrize(
    ("shell", "variables"),
    [
        ("bash", {"COMP_WORDS": "mydyno rules show swappi", "COMP_CWORD": "3"}),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "mydyno rules show swappi"}),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": "mydyno rules show swappi", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        ),
    ],
)
def test_the_program_answers_each_shell(shell: str, variables: dict[str, str]) -> None:
    program = Path(sys.executable).parent / "mydyno"
    done = subprocess.run(
        [program],
        env=os.environ | variables | {"_MYDYNO_COMPLETE": f"complete_{shell}"},
        text=True,
        capture_output=True,
        check=False,
    )
    assert "swappiness" in done.stdout
    assert not done.stderr
