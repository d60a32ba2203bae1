"""An experiment is found by its path, or by the name of one that comes with mydyno."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from mydyno.cli.experiment_files import FOLDER, find, shipped
from mydyno.cli.main import app
from mydyno.core.errors import UsageError
from mydyno.lab import spec


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_those_that_come_with_mydyno_have_names_and_can_be_read() -> None:
    names = list(shipped())
    assert {"thread-cache", "raid-mysql"} <= set(names)
    for name in names:
        assert spec.load(find(Path(name))).experiment == name


@pytest.mark.parametrize("path", ["thread-cache", "thread-cache.yaml", "experiments/thread-cache.yaml"])
def test_a_name_and_a_path_of_the_repository_mean_the_same(path: str) -> None:
    assert find(Path(path)) == FOLDER / "thread-cache.yaml"


def test_a_file_here_comes_first() -> None:
    here = Path("thread-cache")
    here.write_text("experiment: mine\n")
    assert find(here) == here


def test_nothing_outside_the_folder_is_found_by_a_name() -> None:
    for path in ("../cli/main", "experiments/../../cli/new.py", "/thread-cache"):
        assert find(Path(path)) == Path(path)


def test_an_unknown_name_is_refused_with_what_was_probably_meant() -> None:
    with pytest.raises(UsageError, match="no file thred-cache") as refused:
        CliRunner().invoke(app, ["plan", "thred-cache"], catch_exceptions=False)
    assert "thread-cache" in str(refused.value.hint)


def test_the_shipped_import_is_taken_from_any_folder() -> None:
    words = ["import", "experiments/imports/sql-bench-2005.yaml", "--no-report"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    assert "trials in " in done.output


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", ["thread-cache", "raid-vs-memory"])
def test_a_plan_fits_the_terminal(name: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = CliRunner().invoke(app, ["plan", name], catch_exceptions=False)
    assert done.exit_code == 0
    assert columns - 12 < max(map(len, done.stdout.splitlines())) <= columns
