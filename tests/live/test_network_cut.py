"""The network to a host is cut in the middle of a trial, in a network namespace of the test's own."""

from __future__ import annotations

import random
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from live.far_side import comes_true, left
from live.killed_run import resumed
from live.mydyno_process import MEASURED, Finished, Workplace, faults
from live.network import FarNetwork, far_network
from live.sshd import Sshd, private_sshd
from mydyno.lab.results.records import TrialRecord
from mydyno.lab.results.store import Lab
from mydyno.machine.hosts.install import SILENCE_SECONDS

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.usefixtures("known_datasets")]

TRIALS = 4
EXPERIMENT = """experiment: cut
setup:
  host: ssh:db1
  server: {{config: {{innodb_buffer_pool_size: 16M, innodb_log_file_size: 8M}}}}
workload:
  oltp-point-select: {{table_size: 1000}}
  connections: [2]
  think: 5ms
  each: {{measure: 1500ms}}
design: {{repeats: {repeats}}}
"""


@pytest.fixture
def network() -> Iterator[FarNetwork]:
    with far_network() as network:
        yield network


@pytest.fixture
def sshd(network: FarNetwork) -> Iterator[Sshd]:
    # A short name: the server's socket is below it.
    folder = Path(tempfile.mkdtemp(prefix="cut-"))
    folder.chmod(0o755)
    try:
        with private_sshd(folder, address=network.address, inside=network.inside) as running:
            yield running
    finally:
        shutil.rmtree(folder)


def trials(workplace: Workplace) -> list[TrialRecord]:
    with Lab.open(workplace.lab, write=False) as lab:
        return lab.find_run().trials()


def write(workplace: Workplace, sshd: Sshd, repeats: int) -> list[str]:
    """The command of a run."""
    hosts, file = workplace.folder / "hosts.yaml", workplace.folder / "cut.yaml"
    hosts.write_text(f"hosts: {{db1: {{destination: there, config: {sshd.config}}}}}\n")
    file.write_text(EXPERIMENT.format(repeats=repeats))
    return ["run", str(file), "--hosts", str(hosts), "--no-report"]


@pytest.mark.timeout(900)
def test_a_cut_costs_the_trial_under_way_only_and_leaves_nothing_there(
    network: FarNetwork, sshd: Sshd, workplace: Workplace
) -> None:
    command = write(workplace, sshd, TRIALS)

    def cut_in_the_second_trial() -> float:
        """Gives the seconds until nothing was left there."""
        assert comes_true(lambda: list(workplace.lab.glob("runs/*/trials/t001")), 240.0)
        assert comes_true(lambda: list(workplace.lab.glob("runs/*/trials/.t002.partial/my.cnf")), 60.0)
        network.cut()
        cut_at = time.monotonic()
        try:
            assert left(sshd)
            assert comes_true(lambda: left(sshd) == [], SILENCE_SECONDS + 20.0), left(sshd)
            return time.monotonic() - cut_at
        finally:
            network.mend()

    with ThreadPoolExecutor() as beside:
        cutting = beside.submit(cut_in_the_second_trial)
        done = workplace.run(*command)
        assert cutting.result() > SILENCE_SECONDS / 2
    assert done.returncode == 7, done.stderr
    first, second, *others = trials(workplace)
    assert faults([first]) == set()
    assert second.status == "invalid"
    assert "the host ssh:there was lost" in second.invalidities[0].message
    assert len(others) == TRIALS - 2
    assert faults(others) == set()
    assert left(sshd) == []
    resumed = workplace.run(*command)
    assert resumed.returncode in MEASURED, resumed.stderr
    again = [trial for trial in trials(workplace) if trial.attempt == 2]
    assert [trial.trial_id for trial in again] == [second.trial_id]
    assert faults(again) == set()
    assert left(sshd) == []


@pytest.mark.timeout(1800)
def test_a_run_survives_twenty_cuts_at_random_moments(
    network: FarNetwork, sshd: Sshd, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of them are mended before either side gives the other up."""
    silence, cuts, repeats = 5, 20, 30
    monkeypatch.setattr("mydyno.machine.hosts.install.SILENCE_SECONDS", silence)
    monkeypatch.setattr("mydyno.machine.hosts.host._ALIVE_SECONDS", silence / 4)
    monkeypatch.setattr("mydyno.machine.hosts.ssh.QUESTION_SECONDS", 1)
    command = write(workplace, sshd, repeats)
    moments = random.Random(4)
    over = threading.Event()

    def cut_again_and_again() -> None:
        try:
            for _ in range(cuts):
                time.sleep(moments.uniform(0.0, 4.0))
                network.cut()
                time.sleep(moments.choice((moments.uniform(0.0, 2.0), 2.0 * silence)))
                network.mend()
        finally:
            network.mend()
            over.set()

    known: Finished = {}
    with ThreadPoolExecutor() as beside:
        cutting = beside.submit(cut_again_and_again)
        while not over.is_set():
            workplace.run(*command)
            now = workplace.finished()
            assert known.items() <= now.items()
            known = now
        cutting.result()
    latest = resumed(workplace, command, known)
    assert (len(latest), faults(latest)) == (repeats, set())
    assert comes_true(lambda: left(sshd) == [], silence + 20.0), left(sshd)
