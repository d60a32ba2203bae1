"""Trials in a guest, from the experiment file to the lab: their environment, and a guest that is lost."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from live.mydyno_process import MEASURED, Workplace, faults, wait_for_line
from live.uml import NEEDS_KERNEL
from mydyno.lab.results.records import TrialRecord
from mydyno.lab.results.store import DATABASE, Lab

pytestmark = [pytest.mark.live, pytest.mark.slow, NEEDS_KERNEL]

EXPERIMENT = """experiment: guest
setup:
  host: uml
  storage:
    data:
      {{disks: {{count: 2, size: 512M, iops: 400}}, raid: 0, chunk: 64K, filesystem: ext4, mount: [noatime]}}
    log: {{disks: {{count: 1}}, filesystem: xfs}}
  limits: {{nofile: 2000}}
  server: {{config: {{innodb_buffer_pool_size: 8M}}}}
  cache: cold
workload:
  oltp04: {{table_size: 1000}}
  connections: [2]
  each: {{warmup: 200ms, measure: {measure}}}
design: {{repeats: {repeats}}}
"""


def write(workplace: Workplace, measure: str, repeats: int) -> Path:
    file = workplace.folder / "guest.yaml"
    file.write_text(EXPERIMENT.format(measure=measure, repeats=repeats))
    return file


def trials(workplace: Workplace) -> list[TrialRecord]:
    with Lab.open(workplace.lab, write=False) as lab:
        return lab.find_run().trials()


def test_a_trial_records_its_environment_as_it_was_read_back(workplace: Workplace) -> None:
    done = workplace.run("run", str(write(workplace, "4s", 1)), "--no-report")
    assert done.returncode in MEASURED, done.stderr
    [trial] = trials(workplace)
    assert trial.ground is not None
    assert (trial.ground.kind, trial.ground.budget, trial.ground.memory_bytes) == ("uml", "separate", 1 << 30)
    data, log = trial.ground.volumes
    shown = " ".join(f"{name} {value}" for name, value in data.facts.items())
    for expected in ("raid0", "64K", "ext4", "noatime", "400 IOPS"):
        assert expected in shown, shown
    assert log.name == "log"
    assert {check.operation for check in trial.self_checks} == {"randread", "randwrite"}
    assert trial.settings_in_force["innodb_log_group_home_dir"].startswith("/run/mydyno/log/")
    assert trial.phases[0].queries > 0
    assert trial.data is not None
    assert (trial.data.clone, trial.data.cache) == ("copy", "cold")
    assert trial.data.file_bytes
    assert trial.data.cached_bytes is not None
    assert trial.data.cached_bytes < 0.1 * trial.data.file_bytes
    workplace.wait_until_no_process_is_left()
    assert list((workplace.lab / "run").iterdir()) == []


def test_a_guest_that_dies_under_the_load_spoils_its_trial_and_not_the_run(workplace: Workplace) -> None:
    process = workplace.start("run", str(write(workplace, "4s", 2)), "--no-report")
    wait_for_line(process, "setting up: server")
    os.kill(guest(workplace), signal.SIGKILL)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 7, output
    first, second = trials(workplace)
    # It is a failed trial when the guest died before the server had answered.
    assert first.invalidities[0].check in ("host-lost", "failed")
    assert faults([second]) == set()
    workplace.wait_until_no_process_is_left()


def test_a_lab_that_is_removed_under_the_load_ends_the_run_and_its_guest(workplace: Workplace) -> None:
    process = workplace.start("run", str(write(workplace, "8s", 2)), "--no-report")
    wait_for_line(process, "setting up: server")
    (workplace.lab / DATABASE).unlink()
    shutil.rmtree(workplace.lab, ignore_errors=True)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 5, output
    assert f"mydyno: the lab {workplace.lab} was removed while the run was in progress" in output, output
    assert "Traceback" not in output, output
    workplace.wait_until_no_process_is_left()


def guest(workplace: Workplace) -> int:
    """The process of the guest's kernel; those that it starts for its own processes are younger."""
    kernels = [pid for pid in workplace.processes() if Path(f"/proc/{pid}/exe").resolve().name == "linux.uml"]
    return min(kernels)
