"""What goes into a lab comes out again, for one writer and any reader."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.results import builders
from lab.results.builders import (
    HISTOGRAMS,
    experiment,
    foreign_trial,
    generators_trial,
    intervals,
    program_trial,
    samples,
    save,
    storage_trial,
    translated_trial,
    trial,
)
from mydyno.core.errors import LabError, UsageError
from mydyno.lab.results import schema
from mydyno.lab.results.records import Invalidity, Latency
from mydyno.lab.results.rows import insert_trial, select_trials
from mydyno.lab.results.store import DATABASE, Lab


def save_one(lab: Lab) -> Path:
    run = lab.run(experiment(), "{}")
    save(run, trial(1))
    return run.folder


def test_a_trial_comes_back_exactly_as_it_was_saved(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab", write=True) as lab:
        run = lab.run(experiment(), '{"plan": 1}')
        saved = [save(run, trial(number, valid=number != 2)) for number in (1, 2, 3)]
    with Lab.open(tmp_path / "lab", write=False) as lab:
        read = lab.find_run("thread-cache")
        assert read.experiment == experiment()
        assert read.trials() == saved == [trial(1), trial(2, valid=False), trial(3)]
        assert read.samples("t001").equals(samples())
        assert read.intervals("t001").equals(intervals())
        assert read.histograms("t001") == HISTOGRAMS
        assert read.plan_json() == '{"plan": 1}'
        assert (read.trial_folder("t001") / "my.cnf").read_text().startswith("[mysqld]")
        assert (read.folder / "experiment.yaml").read_text() == experiment().spec_text


def test_test_programs_their_operations_and_checks_come_back(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        saved = save(lab.run(experiment(), "{}"), program_trial(1))
    with Lab.open(tmp_path, write=False) as lab:
        assert lab.find_run().trials() == [saved] == [program_trial(1)]


def test_what_a_foreign_program_does_not_report_stays_unknown(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        save(lab.run(experiment(), "{}"), foreign_trial(1))
    with Lab.open(tmp_path, write=False) as lab:
        (back,) = lab.find_run().trials()
    assert back == foreign_trial(1)
    (statement,) = back.phases[0].statements
    assert (statement.errors, statement.rows) == (None, None)
    assert (back.phases[0].latency.count, back.phases[0].latency.p99_ns) == (2000, None)


def test_what_generators_did_and_their_network_come_back(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        save(lab.run(experiment(), "{}"), generators_trial(1))
    with Lab.open(tmp_path, write=False) as lab:
        assert lab.find_run().trials() == [generators_trial(1)]


def test_the_ground_its_self_checks_and_remarks_come_back(tmp_path: Path) -> None:
    record = storage_trial(1)
    with Lab.open(tmp_path, write=True) as lab:
        saved = save(lab.run(experiment(), "{}"), record)
    with Lab.open(tmp_path, write=False) as lab:
        assert lab.find_run().trials() == [saved] == [record]
        (back,) = lab.find_run().trials()
    assert back.status == "valid", "remarks mark a trial and do not spoil it"
    assert back.ground is not None
    assert [list(volume.facts) for volume in back.ground.volumes] == [
        ["devices", "array", "chunk"],
        ["devices"],
    ]


def test_where_a_phase_became_steady_comes_back(tmp_path: Path) -> None:
    judged = trial(1)
    first, *others = judged.phases
    judged = replace(judged, phases=(replace(first, steady_from_s=0.75), *others))
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, judged)
        assert run.trials() == [judged]


def test_costs_come_back_and_phases_of_before_have_none(tmp_path: Path) -> None:
    spent = {"server_cpu_per_query": 45_123.5, "lock_waits_per_transaction": 0.0}
    first, *others = trial(1).phases
    judged = replace(trial(1), phases=(replace(first, costs=spent), *others))
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, judged)
        assert run.trials() == [judged]
    with sqlite3.connect(tmp_path / DATABASE) as database:
        database.execute("UPDATE phases SET costs = NULL")
    with Lab.open(tmp_path, write=False) as lab:
        assert lab.find_run(None).trials() == [trial(1)]


def test_translated_settings_come_back_with_what_became_of_them(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        saved = save(lab.run(experiment(), "{}"), translated_trial(1))
        assert lab.find_run().trials() == [saved] == [translated_trial(1)]
    (tmp_path / "lab.sqlite").unlink()
    with Lab.open(tmp_path, write=True) as lab:
        assert lab.run(experiment(), "{}").trials() == [translated_trial(1)], "from the trial's folder"


def test_a_lost_database_gives_the_ground_back_from_the_folders_of_the_trials(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        save(lab.run(experiment(), "{}"), storage_trial(1))
    (tmp_path / "lab.sqlite").unlink()
    with Lab.open(tmp_path, write=True) as lab:
        assert lab.run(experiment(), "{}").trials() == [storage_trial(1)]


def test_a_run_knows_whether_it_counts_queries_or_ios(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        lab.run(replace(experiment("a" * 16), work="ios"), "{}")
        lab.run(experiment("b" * 16), "{}")
        assert [run.experiment.work for run in lab.runs()] == ["queries", "ios"]


def test_the_folder_of_a_run_is_named_after_experiment_size_and_plan(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, trial(1))
    assert run.folder == tmp_path / "runs" / "thread-cache-toy-c0ffee01"
    assert sorted(path.name for path in (run.folder / "trials" / "t001").iterdir()) == [
        "environment.json",
        "histograms.json",
        "intervals.parquet",
        "my.cnf",
        "record.json",
        "samples.parquet",
    ]


def test_a_trial_that_measured_nothing_has_none_and_not_zero(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, trial(1))
        unmeasured = run.trials()[0].phases[1]
        assert unmeasured.queries_per_second is None
        assert unmeasured.measured_from_s is None
        assert unmeasured.latency == Latency(count=0)
        assert unmeasured.client_cpu_system_s is None


def test_the_same_plan_is_the_same_run_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        first = lab.run(experiment(), "{}")
        save(first, trial(1))
    with Lab.open(tmp_path, write=True) as lab:
        again = lab.run(replace(experiment(), created_at="2027-01-01T00:00:00Z"), "{}")
        assert again.folder == first.folder
        assert again.experiment.created_at == experiment().created_at
        assert again.completed() == {"t001"}
        assert len(lab.runs()) == 1


def test_another_plan_is_another_run_and_the_newest_is_found_first(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        lab.run(experiment("aaaaaaaaaaaaaaaa"), "{}")
        save(lab.run(experiment("bbbbbbbbbbbbbbbb"), "{}"), trial(1))
        assert [run.experiment.plan_fingerprint[:2] for run in lab.runs()] == ["bb", "aa"]
        assert lab.find_run().experiment.plan_fingerprint.startswith("bb")
        older = lab.find_run("thread-cache-toy-aaaaaaaa")
        assert older.trials() == []
        with pytest.raises(UsageError, match=r"no run 'nothing' in .*\n  hint: it holds: thread-cache-toy-b"):
            lab.find_run("nothing")


def test_a_finished_run_is_measured_anew_only_on_request_and_beside_the_first(tmp_path: Path) -> None:
    two = experiment(trials=2)
    with Lab.open(tmp_path, write=True) as lab:
        first = lab.run(two, "{}")
        save(first, trial(1))
        assert lab.run(two, "{}", again=True).folder == first.folder, "not finished: it goes on"
        save(first, trial(2))
        assert lab.run(two, "{}").completed() == {"t001", "t002"}
        second = lab.run(two, "{}", again=True)
        assert second.folder.name == f"{first.folder.name}-2"
        assert not second.completed()
        save(second, trial(1, queries_per_second=7.0))
        assert lab.run(two, "{}").folder == second.folder, "the latest one goes on"
        assert first.trials() == [trial(1), trial(2)]
        assert [run.folder.name for run in lab.runs()] == [second.folder.name, first.folder.name]


def test_a_run_whose_folder_was_deleted_keeps_its_numbers(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        folder = save_one(lab)
        shutil.rmtree(folder)
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        assert run.trials() == [trial(1)]
        with pytest.raises(LabError, match=r"cannot read .*samples\.parquet.*\n  hint: was it moved"):
            run.samples("t001")


def test_an_invalid_trial_may_be_repeated_and_every_attempt_is_kept(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, trial(1, valid=False))
        assert run.completed() == run.invalid() == {"t001"}
        save(run, trial(1, valid=True, queries_per_second=1234.0))
        assert run.completed() == {"t001"}
        assert not run.invalid()
        assert [(one.attempt, one.status) for one in run.trials()] == [(1, "invalid"), (2, "valid")]
        assert run.trial_folder("t001").name == "t001.2"
        assert run.trial_folder("t001", attempt=1).name == "t001"
        with pytest.raises(ValueError, match="finished and valid"):
            run.new_trial_folder("t001")


def test_a_trial_of_an_unknown_point_is_refused(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        with pytest.raises(ValueError, match="no point p1 with levels"):
            save(run, replace(trial(1), levels={builders.FACTOR: "9"}))


def test_asking_for_a_trial_that_is_not_there_names_it(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, trial(1))
        with pytest.raises(LabError, match="no finished trial t009"):
            run.samples("t009")
        with pytest.raises(LabError, match="no finished trial attempt 2 at t001"):
            run.samples("t001", attempt=2)


def test_the_environment_is_kept_for_each_start_and_changes_are_reported(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        assert run.environment() == {}
        same = {"cpus": 2, "memory_gib": 7.5, "governor": None}
        run.record_environment({"kernel": "6.1", "os.load_average": 0.1, **same})
        run.record_environment({"kernel": "6.2", "os.load_average": 0.7, **same})
        assert run.environment() == {"kernel": "6.2", "os.load_average": 0.7, **same}
        # The load is of the moment: another one is no change of the machine.
        assert run.environment_changes() == {"kernel": ("6.1", "6.2")}


def test_a_reader_sees_new_trials_while_a_writer_is_at_work(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as writer:
        run = writer.run(experiment(), "{}")
        with Lab.open(tmp_path, write=False) as reader:
            seen = reader.find_run()
            assert seen.trials() == []
            save(run, trial(1))
            assert [one.trial_id for one in seen.trials()] == ["t001"]


def test_a_second_writer_is_shown_who_holds_the_lab_and_what_to_do(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from mydyno.lab.results.store import Lab\n"
        "lab = Lab.open(Path(sys.argv[1]), write=True); print('open', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(LabError, match=rf"in use by another mydyno \(pid {holder.pid}\)") as caught:
            Lab.open(tmp_path, write=True)
        assert "--lab" in str(caught.value.hint)
        Lab.open(tmp_path, write=False).close()
        holder.kill()
    Lab.open(tmp_path, write=True).close()


def test_a_reader_of_a_missing_lab_is_shown_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"there is no lab at .*\n  hint: `mydyno run") as caught:
        Lab.open(tmp_path / "nowhere", write=False)
    assert caught.value.exit_code == 5
    assert not (tmp_path / "nowhere").exists()


def test_an_empty_lab_says_that_it_holds_no_run(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab, pytest.raises(UsageError, match=r"no run in .* yet"):
        lab.find_run()


def test_an_empty_database_is_not_read_as_a_lab_without_runs(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        save(lab.run(experiment(), "{}"), trial(1))
    (tmp_path / DATABASE).write_bytes(b"")
    with pytest.raises(LabError, match=r"lab\.sqlite is empty: .*\n  hint: .* folders in .*/runs"):
        Lab.open(tmp_path, write=False)
    with Lab.open(tmp_path, write=True) as lab:
        assert lab.run(experiment(), "{}").recovery.adopted == ("t001",)


def test_a_lab_that_cannot_be_made_names_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match=r"cannot write the lab .*/file: "):
        Lab.open(tmp_path / "file", write=True)


@pytest.mark.parametrize("write", [True, False])
def test_a_lab_of_a_newer_version_is_left_alone(tmp_path: Path, write: bool) -> None:
    Lab.open(tmp_path, write=True).close()
    newer = len(schema.MIGRATIONS) + 1
    with sqlite3.connect(tmp_path / "lab.sqlite") as database:
        database.execute(f"PRAGMA user_version = {newer}")
    database.close()
    before = (tmp_path / "lab.sqlite").read_bytes()
    with pytest.raises(LabError, match=rf"written by a newer mydyno \(format {newer}.*\n  hint: upgrade"):
        Lab.open(tmp_path, write=write)
    assert (tmp_path / "lab.sqlite").read_bytes() == before
    # Refusing gives the lock back.
    with sqlite3.connect(tmp_path / "lab.sqlite") as database:
        database.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS)}")
    database.close()
    Lab.open(tmp_path, write=True).close()


def test_a_migration_that_fails_leaves_the_old_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Lab.open(tmp_path, write=True).close()
    broken = (*schema.MIGRATIONS, ("ALTER TABLE trials ADD COLUMN note TEXT", "SELECT no_such_column"))
    with monkeypatch.context() as patch:
        patch.setattr("mydyno.lab.results.database.MIGRATIONS", broken)
        with pytest.raises(LabError, match="no_such_column"):
            Lab.open(tmp_path, write=True)
    assert list(tmp_path.glob("lab.sqlite.before*")) == []
    with Lab.open(tmp_path, write=True) as lab:
        save(lab.run(experiment(), "{}"), trial(1))


def test_a_foreign_database_is_not_taken_for_a_lab(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "lab.sqlite") as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()
    for write in (True, False):
        with pytest.raises(LabError, match="a database, but not a mydyno lab"):
            Lab.open(tmp_path, write=write)


def test_a_damaged_database_is_named_and_its_trials_are_found_again(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, trial(1))
        save(run, trial(2))
    (tmp_path / "lab.sqlite").write_bytes(b"not a database at all, certainly not one" * 100)
    for write in (True, False):
        with pytest.raises(LabError, match=r"lab\.sqlite: file is not a database"):
            Lab.open(tmp_path, write=write)
    (tmp_path / "lab.sqlite").unlink()
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        assert run.recovery.adopted == ("t001", "t002")
        assert run.trials() == [trial(1), trial(2)]


@pytest.mark.parametrize("name", ["samples.parquet", "intervals.parquet"])
def test_a_torn_series_is_named_and_the_numbers_stay_readable(tmp_path: Path, name: str) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, trial(1))
        torn = run.trial_folder("t001") / name
        torn.write_bytes(torn.read_bytes()[:-7])
        read = run.samples if name.startswith("samples") else run.intervals
        with pytest.raises(LabError, match=rf"{name} is damaged"):
            read("t001")
        torn.unlink()
        with pytest.raises(LabError, match=rf"cannot read .*{name}"):
            read("t001")
        assert run.trials() == [trial(1)]


def test_torn_histograms_are_named(tmp_path: Path) -> None:
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(), "{}")
        save(run, trial(1))
        (run.trial_folder("t001") / "histograms.json").write_text('{"0": ')
        with pytest.raises(LabError, match=r"histograms\.json is damaged"):
            run.histograms("t001")


@pytest.mark.parametrize("read_before", [False, True])
def test_someone_who_may_not_write_the_lab_can_still_read_it(read_before: bool) -> None:
    if os.getuid() != 0:
        pytest.skip("giving up rights needs root")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        path = Path(name, "lab")
        with Lab.open(path, write=True) as lab:
            save(lab.run(experiment(), "{}"), trial(1))
        if read_before:  # A reader that may write leaves the log's files behind.
            with Lab.open(path, write=False) as lab:
                assert lab.find_run().trials() == [trial(1)]
            assert (path / "lab.sqlite-wal").exists()
        reader = os.fork()
        if reader == 0:
            status = 2
            try:
                os.setgid(65534)
                os.setuid(65534)
                with Lab.open(path, write=False, trust=True) as lab:
                    status = 0 if lab.find_run().trials() == [trial(1)] else 1
            finally:
                os._exit(status)
        assert os.waitpid(reader, 0)[1] == 0


@given(value=st.integers(0, 2**64 - 1) | st.floats(0, 1e18))
def test_any_value_of_a_counter_fits(value: int | float) -> None:
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.row_factory = sqlite3.Row
    for statement in chain.from_iterable(schema.MIGRATIONS):
        database.execute(statement)
    record = replace(trial(1), counters={"Anything": value})
    insert_trial(database, 1, record, "t001", 0)
    (back,) = select_trials(database, 1, {"p1": record.levels})
    assert back.counters["Anything"] == pytest.approx(value, rel=1e-15)
    assert replace(back, counters={}) == replace(record, counters={})
    database.close()


def test_a_failed_trial_is_not_completed_and_is_tried_again(tmp_path: Path) -> None:
    reason = Invalidity(check="failed", message="server: it ended while starting")
    with Lab.open(tmp_path, write=True) as lab:
        run = lab.run(experiment(trials=2), "{}")
        save(run, trial(1))
        save(run, replace(trial(2, valid=False), invalidities=(reason,)))
        assert (run.completed(), run.failed()) == ({"t001"}, {"t002"})
        anew = lab.run(experiment(trials=2), "{}", again=True)
        assert anew.folder != run.folder, "a run with failed trials is finished"
        save(run, trial(2))
        assert run.completed() == {"t001", "t002"}
        assert not run.failed()
