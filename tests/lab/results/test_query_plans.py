"""What is asked of a lab finds its rows by an index: a large lab answers as fast as a small one."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.results.builders import experiment, save, storage_trial, trial
from mydyno.lab.results.store import Lab
from mydyno.lab.results.writer import RunWriter

SMALL = {"runs"}
"""Tables with one row a run, of which a name that nobody knows may look at every one."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Lab.open(tmp_path, write=True) as lab:
        for fingerprint in ("c0ffee0123456789", "badcafe123456789"):
            run = lab.run(experiment(fingerprint), "{}")
            run.record_environment({"cpu.model": "a"})
            save(run, trial(1))
            save(run, storage_trial(2))
    return tmp_path


def scans(lab: Lab, act: Callable[[], object]) -> dict[str, str]:
    """Table that was looked through from end to end -> the query that did. Counting over an index is fine."""
    connection: sqlite3.Connection = lab._connection
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    act()
    connection.set_trace_callback(None)
    queries = [one for one in asked if re.match(r"\s*(SELECT|WITH)", one)]
    assert queries
    found: dict[str, str] = {}
    for query in queries:
        for row in connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall():
            scan = re.match(r"SCAN (\w+)(?! USING COVERING INDEX)\b", row["detail"])
            if scan:
                found[scan[1]] = query
    return found


def test_a_run_is_found_and_read_without_looking_at_the_others(path: Path) -> None:
    def read() -> None:
        run = lab.find_run("thread-cache")
        run.trials()
        run.environment()
        run.environment_changes()
        run.completed()
        run.invalid()
        run.samples("t001")

    with Lab.open(path, write=False) as lab:
        assert scans(lab, read) == {}
        assert scans(lab, lambda: lab.find_run()) == {}


def test_a_writer_adds_to_its_run_without_looking_at_the_others(path: Path) -> None:
    def add(lab: Lab) -> RunWriter:
        run = lab.run(experiment(), "{}")
        save(run, trial(3))
        return run

    with Lab.open(path, write=True) as lab:
        assert set(scans(lab, lambda: add(lab))) <= SMALL
