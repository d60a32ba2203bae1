"""Labs that an older mydyno made: a writer brings them up to date, and nothing in them is lost."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lab.results import builders
from lab.results.builders import (
    designed_experiment,
    experiment,
    imported_experiment,
    imported_trial,
    program_trial,
    save,
    storage_trial,
)
from mydyno.lab.results import schema
from mydyno.lab.results.records import DesignRecord
from mydyno.lab.results.store import Lab


def test_a_lab_of_the_first_version_keeps_its_trials_and_takes_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_lab(tmp_path, monkeypatch, version=1, rows=FIRST_VERSION)
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        (old,) = run.trials()
        assert (old.trial_id, old.checks) == ("t001", ())
        (phase,) = old.phases
        assert (phase.label, phase.retries, phase.reconnects, phase.operations) == (None, None, None, ())
        assert phase.transactions_by_name == {}
        (statement,) = phase.statements
        assert (statement.kind, statement.count, statement.errors, statement.rows) == ("update", 2000, 1, 7)
        save(run, program_trial(2))
        assert run.trials()[1] == program_trial(2)


def test_a_lab_of_the_second_version_keeps_its_trials_which_ran_on_no_ground(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_lab(tmp_path, monkeypatch, version=2, rows=SECOND_VERSION)
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        assert run.experiment.work == "queries"
        (old,) = run.trials()
        assert (old.ground, old.self_checks, old.remarks, old.translations) == (None, (), (), ())
        (phase,) = old.phases
        assert (phase.label, phase.retries, phase.queries_per_second) == ("insert", 1, 1000.0)
        assert phase.steady_from_s is None, "nobody judged it"
        assert [check.name for check in old.checks] == ["rows of 'flight'"]
        save(run, storage_trial(2))
        assert run.trials()[1] == storage_trial(2)


def test_a_lab_of_the_third_version_does_not_know_the_data_of_its_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_lab(tmp_path, monkeypatch, version=3, rows=THIRD_VERSION)
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        (old,) = run.trials()
        assert old.data is None
        assert [(remark.message, remark.phase) for remark in old.remarks] == [
            ("data: slower than theory", None),
            ("the last 1 of 9 s: idle", 11),
        ]
        save(run, storage_trial(2))
        assert run.trials()[1] == storage_trial(2)


def test_a_lab_of_the_fifth_version_measured_all_points_a_fixed_number_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_lab(tmp_path, monkeypatch, version=5, rows=THIRD_VERSION)
    with Lab.open(tmp_path, write=True) as lab:
        (run,) = lab.runs()
        assert run.experiment.design == DesignRecord()
        assert run.experiment.compared_points == run.experiment.points
        designed = lab.run(designed_experiment(), "{}")
        assert designed.experiment == designed_experiment()
        assert [point.point_id for point in designed.experiment.compared_points] == ["p1", "p2"]


def test_a_lab_of_the_first_version_takes_imported_numbers_and_keeps_what_refers_to_a_phase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_lab(tmp_path, monkeypatch, version=1, rows=FIRST_VERSION)
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(imported_experiment(), "{}")
        save(run, imported_trial())
        assert (run.experiment, run.trials()) == (imported_experiment(), [imported_trial()])
    with sqlite3.connect(tmp_path / "lab.sqlite") as database:
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        assert database.execute(
            "SELECT count(*) FROM phases JOIN statements USING (trial_key, phase)"
        ).fetchone() > (0,)
    database.close()


def make_lab(path: Path, monkeypatch: pytest.MonkeyPatch, *, version: int, rows: str) -> None:
    """A lab as that version left it."""
    with monkeypatch.context() as patch:
        patch.setattr("mydyno.lab.results.database.MIGRATIONS", schema.MIGRATIONS[:version])
        Lab.open(path, write=True).close()
    with sqlite3.connect(path / "lab.sqlite") as database:
        database.executescript(rows)
    database.close()


FIRST_VERSION = f"""
INSERT INTO runs VALUES (1, 'thread-cache-toy-c0ffee01', 'thread-cache', 'toy', NULL, NULL,
    'thread-cache.yaml', 'experiment: thread-cache', 'c0ffee0123456789', '1', 6, '2026-01-31T12:00:00Z',
    '0.1.0');
INSERT INTO factor_levels VALUES (1, 0, '{builders.FACTOR}', 0, '8'), (1, 0, '{builders.FACTOR}', 1, '450');
INSERT INTO points VALUES (1, 'p1', 0, 'thread_cache_size = 8'), (1, 'p2', 1, 'thread_cache_size = 450');
INSERT INTO point_levels VALUES (1, 'p1', '{builders.FACTOR}', '8'), (1, 'p2', '{builders.FACTOR}', '450');
INSERT INTO trials VALUES (1, 1, 't001', 1, 0, 0, 'p1', '5', 'valid', '2026-01-31T12:00:01Z', 9.5,
    '10.11.19-MariaDB', 'durable', 't001');
INSERT INTO phases VALUES (1, 0, 10, 10, 0.0, 0.5, 2.5, 2.6, 2000, 1000, 1000.0, 500.0, 0.25, 0.5, 'service',
    NULL, NULL);
INSERT INTO statements VALUES (1, 0, 0, 'update', 2000, 1, 7);
"""
"""What the first version of the lab held of one trial."""

SECOND_VERSION = (
    FIRST_VERSION.replace("'service',\n    NULL, NULL)", "'service',\n    NULL, NULL, 'insert', 1, 0)")
    + "INSERT INTO checks VALUES (1, 0, 'rows of ''flight''', 1, NULL);"
)
"""The same trial of the second version, with what that had more."""

THIRD_VERSION = (
    SECOND_VERSION.replace("'0.1.0');", "'0.1.0', 'queries');")
    + "INSERT INTO remarks VALUES (1, 0, 'self-check', 'data: slower than theory'),"
    + "    (1, 1, 'runtime', 'phase 12: the last 1 of 9 s: idle');"
)
"""The same trial of the third version, with remarks."""
