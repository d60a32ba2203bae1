"""The queries in docs/reference/lab-format.md run, and answer what they promise."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from lab.results.builders import experiment, program_trial, save, storage_trial, trial
from mydyno.lab.results.store import Lab

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "lab-format.md"
QUERIES = re.findall(r"```sql\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def database(tmp_path: Path) -> sqlite3.Connection:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, trial(1, queries_per_second=1000))
        save(run, trial(2, queries_per_second=1100))
        save(run, trial(3, valid=False, queries_per_second=5))
        save(run, trial(3, queries_per_second=1002))
    return sqlite3.connect(tmp_path / "lab.sqlite")


def test_the_curve_example_averages_valid_trials_only(database: sqlite3.Connection) -> None:
    assert database.execute(QUERIES[0]).fetchall() == [
        ("thread_cache_size = 450", 10, 1, 1100.0, 0.095),
        ("thread_cache_size = 450", 20, 1, None, None),
        ("thread_cache_size = 8", 10, 2, 1001.0, 0.095),
        ("thread_cache_size = 8", 20, 2, None, None),
    ]


def test_the_invalid_example_gives_every_reason(database: sqlite3.Connection) -> None:
    run = "thread-cache-toy-c0ffee01"
    assert database.execute(QUERIES[1]).fetchall() == [
        (run, "t003", 1, "settings-in-force", None, "thread_cache_size is 9, 8 was asked"),
        (run, "t003", 1, "errors", 1, "3 statements failed"),
    ]


def test_the_counter_example_gives_threads_and_connections(database: sqlite3.Connection) -> None:
    assert database.execute(QUERIES[2]).fetchall() == [
        ("thread_cache_size = 8", "t001", 11, 10),
        ("thread_cache_size = 450", "t002", 11, 10),
        ("thread_cache_size = 8", "t003", 11, 10),
    ]


def test_the_program_example_gives_seconds_of_programs_that_came_to_their_end(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, program_trial(1))
        save(run, program_trial(2))
        save(run, trial(3))
    database = sqlite3.connect(tmp_path / "lab.sqlite")
    assert database.execute(QUERIES[3]).fetchall() == [
        ("thread_cache_size = 8", "insert", 1, 2.0),
        ("thread_cache_size = 450", "insert", 1, 2.0),
    ]


def test_the_self_check_example_gives_what_was_expected_and_measured(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        save(lab.run(experiment(), "{}"), storage_trial(1))
    database = sqlite3.connect(tmp_path / "lab.sqlite")
    assert database.execute(QUERIES[4]).fetchall() == [
        ("thread_cache_size = 8", "data", "randwrite", 1, 400.0, 390.0, 0.975),
        ("thread_cache_size = 8", "log", "randread", 1, None, None, None),
    ]


def test_every_column_that_the_second_version_added_is_documented() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert {"label", "retries", "reconnects", "errors", "rows", "holds", "in_totals"} <= set(
        re.findall(r"`(\w+)`", text)
    )


def test_every_table_and_view_is_documented(database: sqlite3.Connection) -> None:
    names = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    text = DOCUMENT.read_text(encoding="utf-8")
    assert {name for (name,) in names if f"`{name}`" not in text} == set()
