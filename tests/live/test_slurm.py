"""A fleet on the nodes of a Slurm partition: three virtual nodes of this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from live.far_side import comes_true
from live.mydyno_process import MEASURED, Workplace, faults, wait_for_line
from live.slurm import NODES, PARTITION, Cluster, private_slurm, remove_node_folders
from live.test_fleet import trials, write

pytestmark = pytest.mark.live

ON_SLURM = ("--launcher", "slurm", "--partition", PARTITION)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    folder.chmod(0o755)
    try:
        with private_slurm(folder) as running:
            yield running
    finally:
        shutil.rmtree(folder)
        remove_node_folders()


@pytest.fixture(autouse=True)
def on_path(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{cluster.commands}:{os.environ['PATH']}")


def left() -> list[Path]:
    return [
        folder
        for node in NODES
        for folder in Path(f"/var/tmp/mydyno-{os.getuid()}-{node}/trials").glob("mydyno-*")
    ]


def test_a_run_takes_each_node_for_itself_and_gives_them_back(cluster: Cluster, workplace: Workplace) -> None:
    file = write(workplace, measure="2s")
    planned = workplace.run("plan", file, *ON_SLURM)
    assert planned.returncode == 0, planned.stderr
    assert "fleet of 3 hosts" in planned.stdout
    process = workplace.start("run", file, *ON_SLURM, "--no-report")
    heard = wait_for_line(process, ": trial", 240.0)
    assert set(cluster.jobs()) == set(NODES)
    limits = cluster.output("squeue", "--noheader", "--format=%l").split()
    assert all(limit != "1:00:00" for limit in limits)  # The partition's.
    rest, _ = process.communicate(timeout=240)
    assert process.returncode in MEASURED, heard + rest
    found = trials(workplace)
    assert faults(found) == set()
    assert Counter(trial.host for trial in found) == dict.fromkeys(NODES, 2)
    assert comes_true(lambda: cluster.jobs() == {})
    assert left() == []


def test_a_node_that_is_lost_costs_its_trial_only(cluster: Cluster, workplace: Workplace) -> None:
    file = write(workplace, repeats=6, measure="3s")
    process = workplace.start("run", file, *ON_SLURM, "--no-report")
    heard = wait_for_line(process, "n2: trial", 240.0)
    cluster.output("scancel", cluster.jobs()["n2"])
    heard += wait_for_line(process, "n2: LOST, 2 hosts left", 60.0)
    rest, _ = process.communicate(timeout=300)
    assert process.returncode in MEASURED, heard + rest
    assert "n2: answers again" in rest
    found = trials(workplace)
    assert (len(found), faults(found)) == (12, set())


def test_a_killed_mydyno_leaves_no_job(cluster: Cluster, workplace: Workplace) -> None:
    process = workplace.start("run", write(workplace, measure="3s"), *ON_SLURM, "--no-report")
    wait_for_line(process, ": trial", 240.0)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert comes_true(lambda: cluster.jobs() == {})
    assert comes_true(lambda: left() == [])


def test_a_node_of_another_job_is_left_out_and_said(cluster: Cluster, workplace: Workplace) -> None:
    holder = workplace.folder / "holder"
    with holder.open("wb") as output:
        held = subprocess.Popen(
            [cluster.commands / "srun", "--exclusive", "--nodelist=n1", "sleep", "600"],
            stdout=output,
            stderr=output,
        )
    try:
        assert comes_true(lambda: "n1" in cluster.jobs())
        planned = workplace.run("plan", write(workplace), *ON_SLURM)
        assert planned.returncode == 0, planned.stderr
        assert "n1 is left out of the fleet" in planned.stdout
    finally:
        held.terminate()
        held.wait(30)


def test_an_unknown_partition_and_words_that_do_not_fit_are_refused(workplace: Workplace) -> None:
    file = write(workplace)
    unknown = workplace.run("plan", file, "--launcher", "slurm", "--partition", "none")
    assert unknown.returncode != 0
    assert "partition none has no node" in unknown.stderr
    alone = workplace.run("plan", file, "--partition", PARTITION)
    assert alone.returncode == 2
    assert "--launcher slurm" in alone.stderr
