"""The whole story on a real private server: an experiment file in, a lab and a report out."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from live.mydyno_process import FAILING, MEASURED, Workplace, faults, interrupt, server_pid, wait_for_line
from mydyno.core.plurals import counted
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.environment import again
from mydyno.lab.results.store import DATABASE, Lab
from mydyno.lab.sampling.histograms import merged

pytestmark = pytest.mark.live

THREAD_CACHE = str(Path(__file__).parents[2] / "experiments" / "thread-cache.yaml")


def test_the_thread_cache_experiment_leaves_a_lab_that_reports_what_was_done(workplace: Workplace) -> None:
    done = workplace.run("run", THREAD_CACHE, "--size", "toy")
    assert done.returncode in MEASURED, done.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        run = lab.find_run("thread-cache")
        trials = run.trials()
        assert [trial.block for trial in trials] == [1, 1, 2, 2]
        assert faults(trials) == set()
        for trial in trials:
            # Two selects a round (super-smack's barrel), five rounds, on 2 and then 4 connections.
            assert [phase.queries for phase in trial.phases] == [2 * 5 * 2, 4 * 5 * 2]
            assert [phase.connect.count for phase in trial.phases] == [2, 4]
            assert (
                trial.settings_in_force["thread_cache_size"]
                == trial.levels["server.config.thread_cache_size"]
            )
            assert trial.settings_in_force["max_connections"] == "450"
            assert trial.counters["Com_select"] >= 60
            assert trial.durability == "durable"
            folder = run.trial_folder(trial.trial_id)
            assert "thread_cache_size" in (folder / "my.cnf").read_text()
            assert "ready for connections" in (folder / "error.log").read_text()
            histograms, intervals = run.histograms(trial.trial_id), run.intervals(trial.trial_id)
            for phase in trial.phases:
                own = intervals.filter(intervals["phase"] == phase.index)["histogram"].drop_nulls()
                parts, whole = merged(own), merged([histograms[str(phase.index)]["queries"]])
                assert parts is not None
                assert whole is not None
                assert parts.encoded() == whole.encoded()
                assert replace(parts.latency(), mean_ns=phase.latency.mean_ns) == phase.latency
            assert run.samples(trial.trial_id).height >= 2
        assert run.environment()["cpu.usable"] == len(os.sched_getaffinity(0))
        assert {path.suffix for path in run.report_folder.iterdir()} >= {
            ".html",
            ".png",
            ".svg",
            ".md",
            ".csv",
        }
    assert workplace.left_outside_the_lab() == []
    assert "thread_cache_size" in done.stdout


def test_a_finished_run_is_left_alone_and_measured_anew_by_the_commands_of_its_report(
    workplace: Workplace,
) -> None:
    assert workplace.run("run", THREAD_CACHE, "--size", "toy", "--no-report").returncode in MEASURED
    with Lab.open(workplace.lab, write=False) as lab:
        go_on, anew, report = (shlex.split(one.line)[1:] for one in again(gather(lab.find_run())).commands)
    database = sqlite3.connect(workplace.lab / "lab.sqlite")
    assert workplace.run(*go_on, "--no-report").returncode in MEASURED
    assert database.execute("SELECT count(*) FROM trials").fetchone() == (4,)
    assert workplace.run(*report).returncode == 0
    assert workplace.run(*anew, "--no-report").returncode in MEASURED
    assert database.execute("SELECT count(*), count(DISTINCT run_id) FROM trials").fetchone() == (8, 2)
    database.close()


def test_no_password_is_found_anywhere_in_the_lab_or_the_processes(workplace: Workplace) -> None:
    process = workplace.start("run", str(workplace.experiment), "--no-report")
    wait_for_line(process, "2 connections")
    lines = []
    for pid in workplace.processes():
        for name in ("cmdline", "environ"):
            lines.append(Path(f"/proc/{pid}/{name}").read_bytes())
    process.communicate(timeout=60)
    kept = [
        path.read_bytes() for path in workplace.lab.rglob("*") if path.is_file() and "data" not in path.parts
    ]
    for text in (*lines, *kept):
        assert b"password=" not in text.lower()
        assert b"IDENTIFIED BY" not in text


def test_a_server_killed_under_load_spoils_its_trial_and_not_the_run(workplace: Workplace) -> None:
    process = workplace.start("run", str(workplace.experiment), "--no-report")
    wait_for_line(process, "2 connections")
    os.kill(server_pid(process, workplace), signal.SIGKILL)
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 7, output
    assert "t001 INVALID" in output
    assert re.search("t004 (valid|INVALID)", output), output
    with Lab.open(workplace.lab, write=False) as lab:
        first, *others = lab.find_run().trials()
    assert "server-alive" in {reason.check for reason in first.invalidities}
    assert faults(others) == set()


def test_a_lab_that_is_removed_ends_the_run_with_one_error_and_no_process_is_left(
    workplace: Workplace,
) -> None:
    process = workplace.start("run", str(workplace.experiment))
    wait_for_line(process, "2 connections")
    (workplace.lab / DATABASE).unlink()
    shutil.rmtree(workplace.lab, ignore_errors=True)  # The server is writing into it.
    output, _ = process.communicate(timeout=90)
    assert "Traceback" not in output, output
    assert f"mydyno: the lab {workplace.lab} was removed while the run was in progress\n  hint: " in output, (
        output
    )
    assert process.returncode == 5
    workplace.wait_until_no_process_is_left()
    assert workplace.left_outside_the_lab() == []


def test_a_point_whose_server_does_not_start_is_recorded_as_failed_and_the_others_are_measured(
    workplace: Workplace,
) -> None:
    file = workplace.folder / "failing.yaml"
    file.write_text(FAILING)
    done = workplace.run("run", str(file))
    assert done.returncode == 7, done.stderr
    assert "FAILED page = large: 2 of 3 trials failed, 1 was not tried" in done.stdout
    with Lab.open(workplace.lab, write=False) as lab:
        run = lab.find_run()
        bad = [trial for trial in run.trials() if trial.levels["page"] == "large"]
        assert [trial.invalidities[0].check for trial in bad] == ["failed", "failed", "skipped"]
        for reason in (trial.invalidities[0].message for trial in bad[:2]):
            assert reason.startswith("server: the server ended while starting")
            assert "requires innodb_buffer_pool_size" in reason
        assert run.failed() == {trial.trial_id for trial in bad}
        assert len(run.completed()) == 3
        others = [trial for trial in run.trials() if trial.trial_id in run.completed()]
        assert faults(others) == set()
        valid = sum(trial.status == "valid" for trial in others)
        assert f"finished: {counted(valid, 'valid trial')}, {3 - valid} invalid, 3 failed" in done.stderr
        assert "Failed points" in (run.report_folder / "report.html").read_text()
    again = workplace.run("run", str(file), "--no-report")
    assert again.returncode == 7, again.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        trials = lab.find_run().trials()
        assert [trial.attempt for trial in trials if trial.measured] == [1, 1, 1]
        assert [trial.attempt for trial in trials if not trial.measured] == [1, 2] * 3
    assert workplace.left_outside_the_lab() == []


def test_a_run_in_which_no_trial_can_be_measured_ends_with_the_first_error(workplace: Workplace) -> None:
    file = workplace.folder / "failing.yaml"
    file.write_text(
        FAILING.replace(
            "innodb_page_size: 16k}", "innodb_page_size: 64k, server.config.innodb_buffer_pool_size: 6M}"
        )
    )
    done = workplace.run("run", str(file))
    assert done.returncode == 4, done.stderr
    assert "0 valid trials, 0 invalid, 6 failed" in done.stderr
    assert "mydyno: the server ended while starting" in done.stderr


def test_an_engine_that_is_killed_fails_its_trial_and_not_the_run(workplace: Workplace) -> None:
    process = workplace.start("run", str(workplace.experiment), "--no-report")
    wait_for_line(process, "setting up: server")
    os.kill(engine_pid(process), signal.SIGKILL)
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 7, output
    assert "FAILED" in output
    assert "memory ran out" in output
    with Lab.open(workplace.lab, write=False) as lab:
        trials = lab.find_run().trials()
    assert len(trials) == 4
    assert [trial.measured for trial in trials].count(False) == 1


def engine_pid(process: subprocess.Popen[str]) -> int:
    """The engine of the load, as soon as there is one."""
    while process.poll() is None:
        for children in Path(f"/proc/{process.pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                for pid in children.read_text().split():
                    if Path(f"/proc/{pid}/exe").readlink().name == "mydyno-engine":
                        return int(pid)
    raise AssertionError("mydyno ended before it had started its engine")


def test_ctrl_c_in_each_stage_ends_cleanly_and_the_next_start_goes_on(workplace: Workplace) -> None:
    for stage in ("4 trials", "setting up: dataset", "setting up: server", "2 connections", "t001 valid"):
        process = workplace.start("run", str(workplace.experiment), "--no-report")
        wait_for_line(process, stage)
        if stage == "setting up: dataset":
            _wait_for(workplace.lab, "**/data/mydyno")
        code, output = interrupt(process)
        assert code == 130, (stage, output)
        assert "Traceback" not in output
        assert re.search(r"of 4 trials (is|are) safe", output), (stage, output)
        workplace.wait_until_no_process_is_left()
        assert workplace.left_outside_the_lab() == [], stage
    again = workplace.run("run", str(workplace.experiment), "--no-report")
    assert again.returncode in MEASURED, again.stderr
    with Lab.open(workplace.lab, write=False) as lab:
        assert len(lab.find_run().trials()) == 4


def _wait_for(folder: Path, pattern: str) -> None:
    import time

    deadline = time.monotonic() + 30
    while not list(folder.glob(pattern)):
        assert time.monotonic() < deadline, f"{pattern} never came to be"
        time.sleep(0.01)


def test_a_second_run_on_the_same_lab_is_turned_away_and_harms_nothing(workplace: Workplace) -> None:
    first = workplace.start("run", str(workplace.experiment), "--no-report")
    wait_for_line(first, "setting up: server")
    second = workplace.run("run", str(workplace.experiment), "--no-report")
    assert second.returncode == 5
    assert f"in use by another mydyno (pid {first.pid})" in second.stderr
    sweeping = workplace.run("cleanup")
    assert sweeping.returncode == 5
    output, _ = first.communicate(timeout=90)
    assert first.returncode in MEASURED, output


def test_a_lab_without_room_says_so_before_it_measures(workplace: Workplace) -> None:
    workplace.lab.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24M,mode=755", "mydyno-test", str(workplace.lab)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mount.returncode:
        pytest.skip(f"mounting a small tmpfs needs root: {mount.stderr.strip()}")
    try:
        done = workplace.run("run", str(workplace.experiment), "--no-report")
        assert done.returncode in (4, 5), done.stderr
        assert "space" in done.stderr or "full" in done.stderr
        assert str(workplace.lab) in done.stderr
        assert "Traceback" not in done.stderr
        assert workplace.left_outside_the_lab() == []
    finally:
        workplace.wait_until_no_process_is_left()
        subprocess.run(["umount", str(workplace.lab)], check=True)


def test_a_missing_server_binary_names_what_was_looked_for(workplace: Workplace) -> None:
    done = workplace.run("run", str(workplace.experiment), MYDYNO_SERVER="/nowhere/mysqld")
    assert done.returncode == 3
    assert "/nowhere/mysqld" in done.stderr
    assert "apt-get install mariadb-server-core" in done.stderr
    assert not (workplace.lab / "runs").exists()


def test_a_misspelt_setting_is_refused_at_its_line_with_the_nearest_name(workplace: Workplace) -> None:
    text = workplace.experiment.read_text().replace("innodb_buffer_pool_size", "innodb_bufer_pool_size")
    workplace.experiment.write_text(text)
    done = workplace.run("plan", str(workplace.experiment))
    assert done.returncode == 2
    assert "short.yaml:5:" in done.stderr
    assert "did you mean 'innodb_buffer_pool_size" in done.stderr


def test_a_lab_of_a_newer_version_is_not_touched(workplace: Workplace) -> None:
    assert workplace.run("run", THREAD_CACHE, "--size", "toy", "--no-report").returncode in (0, 7)
    database = sqlite3.connect(workplace.lab / "lab.sqlite")
    database.execute("PRAGMA user_version = 999")
    database.close()
    before = (workplace.lab / "lab.sqlite").read_bytes()
    for command in (["run", THREAD_CACHE, "--size", "toy"], ["report"], ["cleanup"]):
        done = workplace.run(*command)
        assert done.returncode == 5, done.stderr
        assert "newer" in done.stderr
    assert (workplace.lab / "lab.sqlite").read_bytes() == before


def test_plan_shows_the_trials_and_leaves_no_trace(workplace: Workplace) -> None:
    before = sorted(workplace.folder.rglob("*"))
    shown = workplace.run("plan", str(workplace.experiment))
    done = workplace.run("plan", str(workplace.experiment), "--json")
    assert shown.returncode == done.returncode == 0
    assert "t004 block 2" in shown.stdout
    assert "accepts all settings" in shown.stdout
    assert len(json.loads(done.stdout)["trials"]) == 4
    assert sorted(workplace.folder.rglob("*")) == before
