"""A fleet: the trials of one run on three machines side by side, which private sshd of this machine play."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from live.far_side import agents, comes_true, entry_of, kill, left
from live.mydyno_process import MEASURED, Workplace, faults, wait_for_line
from live.sshd import Sshd, private_sshd
from mydyno.core.errors import ExitCode
from mydyno.lab.analysis.hosts import hosts_of_run, run_sentence
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND
from mydyno.lab.results.records import Environment, TrialRecord
from mydyno.lab.results.store import Lab
from mydyno.machine.hosts.host import connect
from mydyno.tune.history import Round
from mydyno.tune.journal import Journal

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("known_datasets")]

HOSTS = ("db1", "db2", "db3")
EXPERIMENT = """experiment: fleet
setup:
  host: ssh
  server: {{config: {{innodb_buffer_pool_size: 16M, max_connections: 20, innodb_log_file_size: 8M}}}}
factors:
  server.config.thread_cache_size: [0, 8]
workload:
  oltp04: {{table_size: 1000}}
  connections: [2]
  think: 5ms
  each: {{warmup: 200ms, measure: {measure}}}
design: {{repeats: {repeats}, seed: 1, control: {control}}}
"""
"""With `control: true` a third point, and an A/A over hosts."""


@pytest.fixture(scope="module")
def fleet() -> Iterator[tuple[Sshd, ...]]:
    # A short name: the servers' sockets are below it.
    folder = Path(tempfile.mkdtemp(prefix="fl-"))
    folder.chmod(0o755)
    try:
        with ExitStack() as running:
            places = [folder / name for name in HOSTS]
            for place in places:
                place.mkdir(mode=0o755)
            yield tuple(running.enter_context(private_sshd(place, for_root=False)) for place in places)
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def hosts(fleet: tuple[Sshd, ...], workplace: Workplace) -> Path:
    file = workplace.folder / "hosts.yaml"
    entries = (
        f"  {name}: {{destination: there, config: {sshd.config}, allow_production: true}}\n"
        for name, sshd in zip(HOSTS, fleet, strict=True)
    )
    file.write_text(f"hosts:\n{''.join(entries)}  load1: {{destination: there, roles: [load]}}\n")
    return file


def write(workplace: Workplace, *, repeats: int = 3, measure: str = "1s", control: str = "false") -> str:
    file = workplace.folder / "fleet.yaml"
    file.write_text(EXPERIMENT.format(repeats=repeats, measure=measure, control=control))
    return str(file)


def trials(workplace: Workplace) -> list[TrialRecord]:
    with Lab.open(workplace.lab, write=False) as lab:
        return lab.find_run().trials()


def control_trials(workplace: Workplace) -> list[TrialRecord]:
    with Lab.open(workplace.lab, write=False) as lab:
        return lab.find_run().control_trials()


def environment(workplace: Workplace) -> Environment:
    with Lab.open(workplace.lab, write=False) as lab:
        return lab.find_run().environment()


def test_blocks_are_spread_over_hosts_that_run_side_by_side_and_the_report_shows_what_they_differ_by(
    fleet: tuple[Sshd, ...], hosts: Path, workplace: Workplace
) -> None:
    file = write(workplace, repeats=3, control="true")
    planned = workplace.run("plan", file, "--hosts", str(hosts))
    assert planned.returncode == 0, planned.stderr
    assert "fleet of 3 hosts" in planned.stdout
    assert "time by number of hosts: 1 " in planned.stdout
    done = workplace.run("run", file, "--hosts", str(hosts))
    assert done.returncode in MEASURED, done.stderr
    found = trials(workplace)
    assert len(found) == 9
    assert faults(found) == set()
    of_block = {trial.block: trial.host for trial in found}
    assert all(trial.host == of_block[trial.block] for trial in found)
    assert Counter(of_block.values()) == dict.fromkeys(HOSTS, 1)
    assert Counter(trial.host for trial in control_trials(workplace)) == dict.fromkeys(HOSTS, 2)
    facts = environment(workplace)
    assert {facts[f"hosts.{name}.kernel.release"] for name in HOSTS} == {os.uname().release}
    assert not [name for name in facts if name.startswith("cpu.")]
    # All three have begun before the first has ended.
    first_end = done.stderr.index(" valid, ")
    assert {name for name in HOSTS if f"{name}: A/A" in done.stderr[:first_end]} == set(HOSTS)
    assert "A/A over 3 hosts" in done.stderr
    # On a busy machine trials may be invalid: the hosts of the others are compared.
    if all(trial.status == "valid" for trial in found):
        assert "Over all trials, of 3 hosts" in done.stdout
    whole = hosts_of_run(found, QUERIES_PER_SECOND)
    sentence = run_sentence(whole) if whole else "How much the hosts differ over all trials is not known"
    assert sentence in " ".join(done.stdout.split())
    [report] = workplace.lab.glob("runs/*/report/report.json")
    compared = json.loads(report.read_text())
    assert set(compared["hosts"]["rows"][0]) >= {"host", "effect"}
    assert left(*fleet) == []
    workplace.wait_until_no_process_is_left()


def test_a_host_that_is_lost_costs_its_trial_only_and_returns(
    fleet: tuple[Sshd, ...], hosts: Path, workplace: Workplace
) -> None:
    # Long enough for db2 to answer again, 5 s later.
    file = write(workplace, repeats=6, measure="1s")
    process = workplace.start("run", file, "--hosts", str(hosts), "--no-report")
    wait_for_line(process, "db2: trial", 120.0)
    heard = wait_for_line(process, "db2: t0", 120.0)
    # A host that is lost between two trials is connected again, and costs none.
    heard += wait_for_line(process, "db2: setting up: server", 120.0)
    for pid in agents(fleet[1]):
        kill(pid)
    heard += wait_for_line(process, "db2: LOST, 2 hosts left", 60.0)
    rest, _ = process.communicate(timeout=240)
    assert process.returncode in MEASURED, heard + rest
    assert "db2: answers again" in rest
    lost = re.search(r"db2: LOST, 2 hosts left; (t\d+) is measured again", heard + rest)
    assert lost is not None
    found = trials(workplace)
    assert len(found) == 12
    assert faults(found) == set()
    assert {trial.attempt for trial in found} == {1}
    workplace.wait_until_no_process_is_left()
    assert comes_true(lambda: left(*fleet) == [])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_host_that_falls_silent_costs_its_trial_only(
    fleet: tuple[Sshd, ...], hosts: Path, workplace: Workplace
) -> None:
    """Its connection lives, so that ssh has nothing to say of it: the agent has not answered for 60 s."""
    file = write(workplace, repeats=6)
    process = workplace.start("run", file, "--hosts", str(hosts), "--no-report")
    wait_for_line(process, "db2: t0", 120.0)
    heard = wait_for_line(process, "db2: setting up: server", 120.0)
    (agent,) = agents(fleet[1])
    os.kill(agent, signal.SIGSTOP)
    try:
        heard += wait_for_line(process, "db2: LOST, 2 hosts left", 300.0)
    finally:
        os.kill(agent, signal.SIGCONT)
    assert "nothing came from it for 60 s" in heard
    rest, _ = process.communicate(timeout=240)
    assert process.returncode in MEASURED, heard + rest
    found = trials(workplace)
    assert (len(found), faults(found)) == (12, set())
    workplace.wait_until_no_process_is_left()
    assert comes_true(lambda: left(*fleet) == [])


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGKILL])
def test_an_interrupted_run_keeps_its_trials_leaves_nothing_there_and_resumes(
    fleet: tuple[Sshd, ...], hosts: Path, workplace: Workplace, number: signal.Signals
) -> None:
    file = write(workplace, measure="1s")
    process = workplace.start("run", file, "--hosts", str(hosts), "--no-report")
    heard = wait_for_line(process, " valid, ", 240.0)
    process.send_signal(number)
    rest, _ = process.communicate(timeout=60)
    saved = (heard + rest).count(" valid, ") + (heard + rest).count(" INVALID ")
    assert comes_true(lambda: left(*fleet) == [])
    kept = {trial.trial_id: trial.host for trial in trials(workplace)}
    assert len(kept) >= saved >= 1
    assert len(kept) < 6
    resumed = workplace.run("run", file, "--hosts", str(hosts), "--no-report")
    assert resumed.returncode in MEASURED, resumed.stderr
    found = trials(workplace)
    assert len(found) == 6
    assert faults(found) == set()
    assert kept.items() <= {trial.trial_id: trial.host for trial in found}.items()
    assert left(*fleet) == []


@pytest.mark.slow
def test_a_host_that_another_run_uses_is_left_out_and_said(
    fleet: tuple[Sshd, ...], hosts: Path, workplace: Workplace
) -> None:
    file = write(workplace, repeats=2)
    with closing(connect(entry_of(fleet[0].config), session=True)):
        done = workplace.run("run", file, "--hosts", str(hosts), "--no-report")
        assert done.returncode in MEASURED, done.stderr
        assert "db1 is left out of the fleet" in done.stderr
        assert "another run of mydyno uses this host" in done.stderr
        assert {trial.host for trial in trials(workplace)} == {"db2", "db3"}
    # Another run, on the host that it left out.
    hosts.write_text(
        "\n".join(line for line in hosts.read_text().splitlines() if "db2" not in line and "db3" not in line)
    )
    alone = workplace.run("run", file, "--hosts", str(hosts), "--no-report", "--again")
    assert alone.returncode in MEASURED, alone.stderr
    first, second = sorted(path.name for path in (workplace.lab / "runs").iterdir())
    compared = workplace.run("compare", f"before={first}", f"after={second}")
    shown = " ".join(compared.stdout.split())
    assert "cannot be compared with" in shown
    assert "it ran on db1, the other on db2 and db3" in shown
    assert "measure both on a host that they share" in shown


SEARCH = """experiment: search-on-fleet
setup:
  host: ssh
  server: {config: {innodb_buffer_pool_size: 16M, max_connections: 20, innodb_log_file_size: 8M}}
workload:
  oltp04: {table_size: 1000}
  connections: [2]
  think: 5ms
  each: {warmup: 200ms, measure: 1s}
search:
  space: {server.config.thread_cache_size: [0, 8, 20]}
  sampler: random
  repeats: 3
"""


@pytest.mark.slow
def test_the_rounds_of_a_heat_are_measured_side_by_side_on_the_hosts(
    fleet: tuple[Sshd, ...], hosts: Path, workplace: Workplace
) -> None:
    file = workplace.folder / "search.yaml"
    file.write_text(SEARCH)
    done = workplace.run("tune", str(file), "--hosts", str(hosts), "--trials", "4", "--no-confirm")
    assert done.returncode == 0, done.stderr
    assert "heat 1, rounds 1 to 3: start against" in done.stdout
    [folder] = (workplace.lab / "searches").glob("*-*")
    found = [each for each in Journal(workplace.lab, folder.name).events if isinstance(each, Round)]
    first = [each for each in found if each.heat == 1]
    assert [each.round for each in first] == [1, 2, 3]
    with Lab.open(workplace.lab, write=False) as lab:
        measured = lab.find_run(first[0].run).trials()
    assert {each.run for each in first} == {first[0].run}
    assert faults(measured) == set()
    of_block = {trial.block: trial.host for trial in measured}
    assert set(of_block.values()) == set(HOSTS)
    wall, apart = sum(each.seconds for each in first), sum(trial.seconds for trial in measured)
    assert wall == pytest.approx(apart / 3)
    assert left(*fleet) == []


def test_a_recovery_that_cannot_be_measured_there_is_an_error_before_the_search(
    hosts: Path, workplace: Workplace
) -> None:
    file = workplace.folder / "search.yaml"
    file.write_text(f"{SEARCH}  constraints: {{recovery: 60s}}\n")
    done = workplace.run("tune", str(file), "--hosts", str(hosts), "--trials", "4")
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert "search.constraints.recovery is measured on private servers of this machine only" in done.stderr
    assert not list(workplace.lab.glob("searches/*"))
