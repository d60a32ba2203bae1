"""Trials on another machine, from the experiment file to the report: a private sshd plays it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from live.far_side import comes_true, entry_of, left
from live.mydyno_process import MEASURED, Workplace, faults, wait_for_line
from live.sshd import Sshd, private_sshd
from mydyno.lab.results.records import Environment, TrialRecord
from mydyno.lab.results.store import Lab
from mydyno.machine.hosts.check import MYSQL_PORT
from mydyno.machine.hosts.host import connect

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("known_datasets")]

EXPERIMENT = """experiment: far
setup:
  host: ssh:db1
  server: {{config: {{innodb_buffer_pool_size: 16M, innodb_log_file_size: 8M}}}}
  cache: {cache}
workload:
  oltp04: {{table_size: 1000}}
  connections: [2]
  think: 5ms
  each: {{warmup: 200ms, measure: {measure}}}
design: {{repeats: 2}}
"""


@pytest.fixture(scope="module")
def sshd() -> Iterator[Sshd]:
    # A short name: the server's socket is below it.
    folder = Path(tempfile.mkdtemp(prefix="far-"))
    folder.chmod(0o755)
    try:
        with private_sshd(folder, for_root=False) as running:
            yield running
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def hosts(sshd: Sshd, workplace: Workplace) -> Path:
    return hosts_file(workplace, sshd, "allow_production: true")


def hosts_file(workplace: Workplace, sshd: Sshd, more: str) -> Path:
    file = workplace.folder / "hosts.yaml"
    file.write_text(f"hosts:\n  db1: {{destination: there, config: {sshd.config}, {more}}}\n")
    return file


def write(workplace: Workplace, *, cache: str = "as-cloned", measure: str = "1s") -> str:
    file = workplace.folder / "far.yaml"
    file.write_text(EXPERIMENT.format(cache=cache, measure=measure))
    return str(file)


def trials(workplace: Workplace) -> list[TrialRecord]:
    with Lab.open(workplace.lab, write=False) as lab:
        return lab.find_run().trials()


def environment(workplace: Workplace) -> Environment:
    with Lab.open(workplace.lab, write=False) as lab:
        return lab.find_run().environment()


@pytest.mark.parametrize("cache", ["cold", pytest.param("dump", marks=pytest.mark.slow)])
def test_an_experiment_on_another_machine_runs_to_its_report_and_leaves_nothing_there(
    sshd: Sshd, hosts: Path, workplace: Workplace, cache: str
) -> None:
    if os.geteuid() == 0:
        # A mount that only that machine has, as its environment is to show.
        inside = ["nsenter", f"--mount=/proc/{sshd.process}/ns/mnt", "--"]
        subprocess.run([*inside, "mount", "--bind", sshd.home, sshd.home], check=True)
    file = write(workplace, cache=cache)
    planned = workplace.run("plan", file, "--hosts", str(hosts))
    assert planned.returncode == 0, planned.stderr
    assert "ssh:db1" in planned.stdout
    assert "on db1, over ssh: copies mydyno's programs" in planned.stdout
    done = workplace.run("run", file, "--hosts", str(hosts))
    assert done.returncode in MEASURED, done.stderr
    first, second = trials(workplace)
    assert faults([first, second]) == set()
    assert first.ground is not None
    assert (first.ground.kind, first.ground.volumes) == ("ssh", ())
    assert str(sshd.home) in first.ground.disk_model
    assert first.phases[0].queries > 0
    assert first.settings_in_force["datadir"].startswith(str(sshd.home))
    assert first.data is not None
    assert first.data.cache == cache
    facts = environment(workplace)
    assert (facts["machine.host"], facts["kernel.release"]) == ("db1", os.uname().release)
    if os.geteuid() == 0:
        assert facts["filesystem.mount_point"] == str(sshd.home)
    [report] = workplace.lab.glob("runs/*/report/report.html")
    assert "another machine" in report.read_text()
    logs = list(workplace.lab.glob("runs/*/trials/*/error.log"))
    assert len(logs) == 2
    assert all("ready for connections" in log.read_text() for log in logs)
    assert left(sshd) == []
    workplace.wait_until_no_process_is_left()


@pytest.mark.slow
def test_a_killed_mydyno_leaves_nothing_there_and_the_run_resumes(
    sshd: Sshd, hosts: Path, workplace: Workplace
) -> None:
    file = write(workplace, measure="3s")
    process = workplace.start("run", file, "--hosts", str(hosts), "--no-report")
    wait_for_line(process, "trial 2/2", 240.0)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert comes_true(lambda: left(sshd) == [])
    assert len(trials(workplace)) == 1
    resumed = workplace.run("run", file, "--hosts", str(hosts), "--no-report")
    assert resumed.returncode in MEASURED, resumed.stderr
    assert faults(trials(workplace)) == set()
    assert len(trials(workplace)) == 2
    assert left(sshd) == []


def test_a_host_that_another_run_uses_is_refused_by_run_and_not_by_plan(
    sshd: Sshd, hosts: Path, workplace: Workplace
) -> None:
    file = write(workplace)
    with closing(connect(entry_of(sshd.config), session=True)):
        assert workplace.run("plan", file, "--hosts", str(hosts)).returncode == 0
        refused = workplace.run("run", file, "--hosts", str(hosts))
    assert refused.returncode == 4
    assert "another run of mydyno uses this host" in refused.stderr


def test_a_host_with_a_server_on_port_3306_is_refused_unless_the_file_allows_it(
    sshd: Sshd, hosts: Path, workplace: Workplace
) -> None:
    file = write(workplace)
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", MYSQL_PORT))
            listening.listen()
        except OSError:
            pass  # A server listens there already.
        assert workplace.run("plan", file, "--hosts", str(hosts)).returncode == 0
        careful = hosts_file(workplace, sshd, "allow_production: false")
        for command in ("plan", "run"):
            refused = workplace.run(command, file, "--hosts", str(careful))
            assert refused.returncode == 2
            assert "a server listens on port 3306 of the host db1" in refused.stderr
            assert "allow_production: true" in refused.stderr


def test_a_host_that_is_not_known_or_not_for_servers_is_refused(
    sshd: Sshd, hosts: Path, workplace: Workplace
) -> None:
    file = write(workplace)
    without = workplace.run("plan", file)
    assert without.returncode == 2
    assert "runs on the host db1, and no file of hosts is given" in without.stderr
    assert "--hosts hosts.yaml" in without.stderr
    hosts.write_text("hosts: {db2: ssh:there}\n")
    other = workplace.run("plan", file, "--hosts", str(hosts))
    assert other.returncode == 2
    assert "unknown host" in other.stderr
    assert "db2" in other.stderr
    load = workplace.run("plan", file, "--hosts", str(hosts_file(workplace, sshd, "roles: [load]")))
    assert load.returncode == 2
    assert "the host db1 is not for servers" in load.stderr
