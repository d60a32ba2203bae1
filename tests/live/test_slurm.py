"""A fleet on the nodes of a Slurm partition: three virtual nodes of this machine."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from live.far_side import comes_true, kill
from live.killed_run import KilledRun, resumed
from live.mydyno_process import MEASURED, Workplace, faults, wait_for_line
from live.slurm import NODES, PARTITION, Cluster, private_slurm, remove_node_folders
from live.test_fleet import trials, write

pytestmark = pytest.mark.live

APART = """experiment: apart
setup:
  host: ssh:n1
  server: {config: {innodb_buffer_pool_size: 16M, max_connections: 20}}
load: {hosts: [n2, n3]}
workload:
  oltp-point-select: {table_size: 1000}
  connections: [2]
  think: 5ms
  each: {measure: 1s}
design: {repeats: 2, seed: 1}
"""

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


@contextmanager
def held_node(cluster: Cluster, workplace: Workplace, node: str) -> Iterator[None]:
    """Another job has the node."""
    with (workplace.folder / "holder").open("wb") as output:
        held = subprocess.Popen(
            [cluster.commands / "srun", "--exclusive", f"--nodelist={node}", "sleep", "600"],
            stdout=output,
            stderr=output,
        )
    try:
        assert comes_true(lambda: node in cluster.jobs())
        yield
    finally:
        held.terminate()
        held.wait(30)


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


def test_server_and_generators_are_components_of_one_heterogeneous_allocation(
    cluster: Cluster, workplace: Workplace
) -> None:
    file = workplace.folder / "apart.yaml"
    file.write_text(APART)
    planned = workplace.run("plan", str(file), *ON_SLURM)
    assert planned.returncode == 0, planned.stderr
    assert "OPENS a free TCP port on 127.0.0.1 of n1" in " ".join(planned.stdout.split())
    process = workplace.start("run", str(file), *ON_SLURM, "--no-report")
    heard = wait_for_line(process, "trial 1/2", 240.0)
    components = cluster.output("squeue", "--noheader", "--format=%N %i").split()
    leader = components[1].partition("+")[0]
    assert dict(zip(components[::2], components[1::2], strict=True)) == {
        node: f"{leader}+{component}" for component, node in enumerate(NODES)
    }
    rest, _ = process.communicate(timeout=240)
    assert process.returncode in MEASURED, heard + rest
    found = trials(workplace)
    assert len(found) == 2
    assert faults(found) <= {"generators"}  # A busy machine starts threads late.
    assert [share.host for share in found[0].phases[0].shares] == ["n2", "n3"]
    assert comes_true(lambda: cluster.jobs() == {})
    assert left() == []


def test_an_allocation_ends_with_a_killed_mydyno_and_is_refused_whole_where_one_node_is_not_free(
    cluster: Cluster, workplace: Workplace
) -> None:
    file = workplace.folder / "apart.yaml"
    file.write_text(APART)
    process = workplace.start("run", str(file), *ON_SLURM, "--no-report")
    wait_for_line(process, "trial 1/2", 240.0)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert comes_true(lambda: cluster.jobs() == {})
    assert comes_true(lambda: left() == [])
    with held_node(cluster, workplace, "n3"):
        refused = workplace.run("plan", str(file), *ON_SLURM)
        assert refused.returncode != 0
        assert "slurm:n1,n2,n3" in refused.stderr
        assert set(cluster.jobs()) == {"n3"}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_node_whose_slurmstepd_is_killed_is_lost_although_srun_keeps_its_stream(
    cluster: Cluster, workplace: Workplace
) -> None:
    file = write(workplace, repeats=6)
    process = workplace.start("run", file, *ON_SLURM, "--no-report")
    heard = wait_for_line(process, "n2: trial", 240.0)
    job = cluster.jobs()["n2"]
    steps = cluster.steps(job)
    assert steps
    for step in steps:
        kill(step)
    # 60 s of silence, and some more to end what is left of it here.
    heard += wait_for_line(process, "n2: LOST, 2 hosts left", 300.0)
    rest, _ = process.communicate(timeout=300)
    assert process.returncode in MEASURED, heard + rest
    found = trials(workplace)
    assert (len(found), faults(found)) == (12, set())
    workplace.wait_until_no_process_is_left()
    assert comes_true(lambda: cluster.jobs() == {}, 120.0)
    assert comes_true(lambda: left() == [])


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_run_survives_twenty_kills_of_slurmd_at_random_moments(
    cluster: Cluster, workplace: Workplace
) -> None:
    moments = random.Random(3)
    command = ["run", write(workplace, repeats=36), *ON_SLURM, "--no-report"]
    run = KilledRun(workplace, command, moments)
    for number in range(20):
        run.strike(
            lambda: NODES if run.is_running() else (),
            lambda node: cluster.kill_daemon(node, moments.uniform(0.0, 5.0)),
            f"kill {number + 1}",
        )
    run.finish()
    assert comes_true(lambda: cluster.jobs() == {}, 120.0)
    latest = resumed(workplace, command, run.known)
    assert (len(latest), faults(latest)) == (72, set())
    workplace.wait_until_no_process_is_left()
    assert comes_true(lambda: cluster.jobs() == {}, 120.0)
    assert comes_true(lambda: left() == [])


def test_a_killed_mydyno_leaves_no_job(cluster: Cluster, workplace: Workplace) -> None:
    process = workplace.start("run", write(workplace, measure="3s"), *ON_SLURM, "--no-report")
    wait_for_line(process, ": trial", 240.0)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert comes_true(lambda: cluster.jobs() == {})
    assert comes_true(lambda: left() == [])


def test_a_node_of_another_job_is_left_out_and_said(cluster: Cluster, workplace: Workplace) -> None:
    with held_node(cluster, workplace, "n1"):
        planned = workplace.run("plan", write(workplace), *ON_SLURM)
        assert planned.returncode == 0, planned.stderr
        assert "n1 is left out of the fleet" in planned.stdout


def test_an_unknown_partition_and_words_that_do_not_fit_are_refused(workplace: Workplace) -> None:
    file = write(workplace)
    unknown = workplace.run("plan", file, "--launcher", "slurm", "--partition", "none")
    assert unknown.returncode != 0
    assert "partition none has no node" in unknown.stderr
    alone = workplace.run("plan", file, "--partition", PARTITION)
    assert alone.returncode == 2
    assert "--launcher slurm" in alone.stderr
