"""One load from two machines (`load.hosts`), from the experiment file to the report: two sshds play them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from live.far_side import comes_true, engines, entry_of, kill, left
from live.mydyno_process import MEASURED, Workplace, faults, wait_for_line
from live.releases import release
from live.sshd import Sshd, private_sshd
from mydyno.lab.results.records import TrialRecord
from mydyno.lab.results.store import Lab
from mydyno.machine.hosts.host import connect

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("known_datasets")]

EXPERIMENT = """experiment: wide
setup:
  {host}
  server: {{{release}config: {{innodb_buffer_pool_size: 16M, max_connections: 40}}}}
load: {{hosts: [c1, c2]{load}}}
workload:
  oltp-point-select: {{table_size: 1000}}
  connections: {connections}
  each: {each}
  {more}
design: {{repeats: {repeats}}}
"""


@dataclass(frozen=True)
class Machines:
    """c1 and c2; each has a home of its own."""

    sshds: dict[str, Sshd]

    def file(self, folder: Path, **more: str) -> Path:
        """hosts.yaml, with `more` keys of some hosts. db1 is the machine of c1."""
        path = folder / "hosts.yaml"
        hosts = {"c1": self.sshds["c1"], "c2": self.sshds["c2"], "db1": self.sshds["db1"]}
        lines = (
            f"  {name}: {{destination: there, config: {sshd.config}, allow_production: true, "
            f"{more.get(name, 'address: 127.0.0.1')}}}\n"
            for name, sshd in hosts.items()
        )
        path.write_text(f"hosts:\n{''.join(lines)}")
        return path

    def left(self) -> list[str]:
        """What sessions have there."""
        return left(*self.sshds.values())


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    # Short names: a server's socket is below one of them.
    with ExitStack() as stack:
        sshds = {}
        for name in ("c1", "c2", "db1"):
            folder = Path(tempfile.mkdtemp(prefix=f"{name}-"))
            stack.callback(shutil.rmtree, folder)
            folder.chmod(0o755)
            sshds[name] = stack.enter_context(private_sshd(folder, for_root=False))
        yield Machines(sshds)


def engine_of(process: subprocess.Popen[str], sshd: Sshd) -> list[int]:
    """Once the first trial has one there."""
    wait_for_line(process, "trial 1/", 240.0)
    deadline = time.monotonic() + 120
    while not (found := engines(sshd)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def write(workplace: Workplace, **changes: str) -> str:
    values = {
        "host": "host: local",
        "load": ", address: 127.0.0.1",
        "connections": "[5]",
        "each": "{rounds: 400}",
        "more": "pause: 0s",
        "repeats": "1",
        "release": "",
    }
    file = workplace.folder / "wide.yaml"
    file.write_text(EXPERIMENT.format(**{**values, **changes}))
    return str(file)


def trials(workplace: Workplace) -> list[TrialRecord]:
    with Lab.open(workplace.lab, write=False) as lab:
        return lab.find_run().trials()


def test_the_counts_are_those_of_the_server_and_the_shares_those_of_the_generators(
    machines: Machines, workplace: Workplace
) -> None:
    hosts = machines.file(workplace.folder)
    file = write(workplace, connections="[5, 3]")
    planned = workplace.run("plan", file, "--hosts", str(hosts))
    assert planned.returncode == 0, planned.stderr
    flat = " ".join(planned.stdout.split())
    assert "OPENS a free TCP port on 127.0.0.1 of this machine while a trial runs" in flat
    assert "to c1 (127.0.0.1), c2 (127.0.0.1)" in flat
    done = workplace.run("run", file, "--hosts", str(hosts))
    assert done.returncode in MEASURED, done.stderr
    [trial] = trials(workplace)
    assert faults([trial]) <= {"generators"}  # A busy machine starts threads late.
    first, second = trial.phases
    # Each round is one SELECT on each connection; the server counts what the sampler does elsewhere.
    assert (first.queries, second.queries) == (2000, 1200)
    assert trial.counters["Com_select"] == 3200
    assert trial.counters["Max_used_connections"] >= 5
    assert [(one.host, one.connections, one.queries) for one in first.shares] == [
        ("c1", 3, 1200),
        ("c2", 2, 800),
    ]
    assert [(one.host, one.connections) for one in second.shares] == [("c1", 2), ("c2", 1)]
    assert first.latency.count == 2000
    assert first.connect.count == 5
    assert [one.host for one in trial.networks] == ["c1", "c2"]
    for network in trial.networks:
        assert network.beside_server
        assert network.round_trip_ns is not None
        assert network.round_trip_ns > 0
        assert network.bytes_per_second is not None
        assert network.bytes_per_second > 1e6
    assert trial.settings_in_force["bind_address"] == "127.0.0.1"
    [report] = workplace.lab.glob("runs/*/report/report.html")
    page = report.read_text()
    assert "Generators" in page
    assert "round trip" in page
    assert machines.left() == []
    assert workplace.left_outside_the_lab() == []


@pytest.mark.parametrize(
    "name",
    ["mysql-5.6", *(pytest.param(name, marks=pytest.mark.slow) for name in ("mysql-9.7", "mariadb-11.8"))],
)
def test_generators_get_into_servers_of_other_releases(
    machines: Machines, workplace: Workplace, name: str
) -> None:
    release(name)
    file = write(workplace, each="{rounds: 50}", release=f"release: {name}, ")
    done = workplace.run("run", file, "--hosts", str(machines.file(workplace.folder)), "--no-report")
    assert done.returncode in MEASURED, done.stderr
    [trial] = trials(workplace)
    assert faults([trial]) <= {"generators"}
    assert [one.queries for one in trial.phases[0].shares] == [150, 100]


def test_a_load_for_a_time_at_a_rate_with_a_server_on_another_machine(
    machines: Machines, workplace: Workplace
) -> None:
    hosts = machines.file(workplace.folder)
    file = write(
        workplace,
        host="host: ssh:db1",
        load="",
        connections="[4]",
        each="{warmup: 500ms, measure: 2s}",
        more="arrival: {fixed: 200/s}",
    )
    done = workplace.run("run", file, "--hosts", str(hosts), "--no-report")
    assert done.returncode in MEASURED, done.stderr
    [trial] = trials(workplace)
    assert faults([trial]) <= {"generators"}
    [phase] = trial.phases
    assert phase.transactions is not None
    assert phase.measured_from_s is not None
    assert phase.measured_to_s is not None
    seconds = phase.measured_to_s - phase.measured_from_s
    assert seconds == pytest.approx(2.0, abs=0.5)  # A busy machine ends late.
    late = any(reason.check == "rate-kept" for reason in trial.invalidities)
    # What a stall of the warm-up has delayed is answered in the measured part.
    delayed = 200 * 0.5
    # What was due and is missing was waiting at the end, but for those under way and at the edges.
    assert phase.backlog_max is not None
    assert late or -8 - phase.backlog_max <= phase.transactions - 200 * seconds <= delayed
    shares = [one.transactions for one in phase.shares]
    assert sum(shares) == phase.transactions
    assert late or abs(shares[0] - shares[1]) <= 8 + delayed / 2
    assert phase.latency_kind == "response"
    assert machines.left() == []


def test_a_killed_generator_spoils_the_trial_by_its_name_and_the_run_goes_on_and_resumes(
    machines: Machines, workplace: Workplace
) -> None:
    """And the password of the load is in no command line, no environment and not in the lab."""
    hosts = machines.file(workplace.folder)
    file = write(workplace, each="{warmup: 200ms, measure: 2s}", repeats="2")
    process = workplace.start("run", file, "--hosts", str(hosts), "--no-report")
    [engine] = engine_of(process, machines.sshds["c2"])
    shown = Path(f"/proc/{engine}/cmdline").read_bytes() + Path(f"/proc/{engine}/environ").read_bytes()
    kill(engine)
    assert shown.split(b"\0")[1:3] == [b"run", b"--starts"]
    assert b"mydyno_load" not in shown
    assert b"assword" not in shown
    process.communicate(timeout=240)
    assert process.returncode == 7
    first, second = trials(workplace)
    assert first.status == "invalid"
    assert "the generator c2: mydyno-engine was killed by SIGKILL" in first.invalidities[0].message
    assert faults([second]) <= {"generators"}
    assert machines.left() == []
    assert [engines(sshd) for sshd in machines.sshds.values()] == [[], [], []]
    workplace.wait_until_no_process_is_left()
    resumed = workplace.run("run", file, "--hosts", str(hosts), "--no-report")
    assert resumed.returncode in MEASURED, resumed.stderr
    again = [trial for trial in trials(workplace) if trial.attempt == 2]
    assert [trial.trial_id for trial in again] == [first.trial_id]
    assert faults(again) <= {"generators"}
    # A dataset is made before there is a password, and kept for other tests.
    kept = [path for path in (workplace.lab / "runs").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"IDENTIFIED BY" in path.read_bytes()]


@pytest.mark.parametrize(
    ("of_c2", "expected", "hint"),
    [
        ("roles: [server]", "the host c2 is not for generators of load", "add the role load"),
        ("folder: /proc/nowhere", "c2", ""),
    ],
)
def test_a_host_that_cannot_drive_a_load_is_refused_by_its_name(
    machines: Machines, workplace: Workplace, of_c2: str, expected: str, hint: str
) -> None:
    refused = workplace.run(
        "plan", write(workplace), "--hosts", str(machines.file(workplace.folder, c2=of_c2))
    )
    assert refused.returncode != 0
    assert expected in refused.stderr or "private folder" in refused.stderr
    assert hint in refused.stderr


def test_an_unknown_generator_and_a_missing_file_of_hosts_are_refused(
    machines: Machines, workplace: Workplace
) -> None:
    file = write(workplace)
    without = workplace.run("plan", file)
    assert (without.returncode, "no file of hosts is given" in without.stderr) == (2, True)
    hosts = machines.file(workplace.folder)
    hosts.write_text(hosts.read_text().replace("  c2:", "  c3:"))
    unknown = workplace.run("plan", file, "--hosts", str(hosts))
    assert unknown.returncode == 2
    assert "unknown host 'c2'" in unknown.stderr


def test_a_server_whose_host_has_no_address_is_refused(machines: Machines, workplace: Workplace) -> None:
    hosts = machines.file(workplace.folder, db1="roles: [server]")
    file = write(workplace, host="host: ssh:db1", load="")
    refused = workplace.run("plan", file, "--hosts", str(hosts))
    assert refused.returncode == 2
    assert "the host db1 has no address in hosts.yaml" in refused.stderr


def test_a_generator_that_another_run_uses_is_refused(machines: Machines, workplace: Workplace) -> None:
    hosts = machines.file(workplace.folder)
    with closing(connect(entry_of(machines.sshds["c2"].config), session=True)):
        refused = workplace.run("run", write(workplace), "--hosts", str(hosts))
    assert refused.returncode == 4
    assert "another run of mydyno uses this host" in refused.stderr
    assert comes_true(lambda: machines.left() == [])
