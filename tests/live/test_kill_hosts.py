"""SIGKILL at any moment of mydyno, and of what it has on other machines: no finished trial is lost, the plan
is finished, nothing is left there."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from live.far_side import agents, comes_true, engines, kill, left, sshd_children
from live.killed_run import KilledRun, resumed
from live.mydyno_process import Workplace, faults, trials_of
from live.sshd import Sshd, private_sshd

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.usefixtures("known_datasets")]

EXPERIMENT = """experiment: killed
setup:
  host: ssh:db1
  server: {{config: {{innodb_buffer_pool_size: 16M, innodb_log_file_size: 8M}}}}
load: {{hosts: [c1]}}
workload:
  oltp-point-select: {{table_size: 1000}}
  connections: [2]
  think: 5ms
  each: {{measure: 1s}}
design: {{repeats: {repeats}}}
"""
VICTIMS = ("mydyno", "agent", "generator", "connection")


@pytest.fixture(scope="module")
def sshds() -> Iterator[tuple[Sshd, Sshd]]:
    """db1 and c1."""
    with ExitStack() as stack:
        running = []
        for name in ("db1", "c1"):
            # A short name: a server's socket is below it.
            folder = Path(tempfile.mkdtemp(prefix=f"{name}-"))
            stack.callback(shutil.rmtree, folder)
            folder.chmod(0o755)
            running.append(stack.enter_context(private_sshd(folder, for_root=False)))
        yield running[0], running[1]


@dataclass
class RunOnHosts(KilledRun):
    sshds: tuple[Sshd, ...] = ()

    def kill(self, victim: str) -> None:
        context = f"{victim}, after {trials_of(self.known)}"
        self.strike(lambda: self._victims(victim), kill, context)
        if victim == "mydyno":
            self.finish()
            self.workplace.wait_until_no_process_is_left()
            # What an agent that was killed before has left is there until somebody looks.
            assert comes_true(lambda: not self._of_all(agents)), context
            swept = self.workplace.run("cleanup", "--hosts", self.command[-2])
            assert swept.returncode == 0, swept.stderr
            assert left(*self.sshds) == [], context

    def _victims(self, victim: str) -> list[int]:
        match victim:
            case "mydyno":
                return [self.process.pid] if self.process is not None and self.is_running() else []
            case "agent":
                return self._of_all(agents)
            case "generator":
                return self._of_all(engines)
            case _:
                return self._of_all(sshd_children)

    def _of_all(self, kind: Callable[[Sshd], list[int]]) -> list[int]:
        return [pid for sshd in self.sshds for pid in kind(sshd)]


@pytest.mark.timeout(3600)
def test_a_run_survives_kills_of_each_of_its_processes_at_random_moments(
    sshds: tuple[Sshd, Sshd], workplace: Workplace
) -> None:
    victims = [*VICTIMS] * 20
    hosts, file = workplace.folder / "hosts.yaml", workplace.folder / "killed.yaml"
    entries = (
        f"  {name}: {{destination: there, config: {sshd.config}, allow_production: true, "
        "address: 127.0.0.1}\n"
        for name, sshd in zip(("db1", "c1"), sshds, strict=True)
    )
    hosts.write_text(f"hosts:\n{''.join(entries)}")
    # Every kill meets a trial: it comes within the lines of one, after that of the kill before.
    repeats = 2 + len(victims)
    file.write_text(EXPERIMENT.format(repeats=repeats))
    moments = random.Random(2)
    moments.shuffle(victims)
    command = ["run", str(file), "--hosts", str(hosts), "--no-report"]
    run = RunOnHosts(workplace, command, moments, sshds=sshds)
    for victim in victims:
        run.kill(victim)
    run.finish()
    latest = resumed(workplace, command, run.known)
    assert len(latest) == repeats
    assert faults(latest) <= {"generators"}  # A busy machine starts threads late.
    assert left(*sshds) == []
    assert workplace.run("cleanup").returncode == 0
    assert workplace.left_outside_the_lab() == []
    assert list((workplace.lab / "run").glob("*")) == []
