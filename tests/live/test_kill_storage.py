"""SIGKILL at any moment of build-up, load and take-down: what lived is dead, and `cleanup` leaves nothing."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from live.leftovers import Place
from live.mydyno_process import MYDYNO

pytestmark = pytest.mark.live

LONGEST_SECONDS = {"local": 1.2, "uml": 6.0, "vm": 30.0}
"""How long after its start a child of each ground is killed at the latest: more than one turn takes."""


@dataclass
class Killing:
    """One ground, one place, one seed of moments."""

    kind: str
    place: Place
    seed: int
    steps: Counter[str] = field(default_factory=Counter)

    def kill_and_clean(self, times: int) -> None:
        moments = random.Random(self.seed)
        for kill in range(1, times + 1):
            moment = moments.uniform(0.0, LONGEST_SECONDS[self.kind])
            step = self._kill_a_child_after(moment)
            self.steps[step.split(" ")[0]] += 1
            context = f"seed {self.seed}, kill {kill} after {moment:.3f} s, at {step!r}"
            print(context)
            try:
                self.place.wait_until_dead(10.0)
                done = self._cleanup()
                assert done.returncode == 0, done.stdout + done.stderr
                self.place.wait_until_clean(10.0)
            except AssertionError as error:
                raise AssertionError(f"{context}: {error}") from error

    def _kill_a_child_after(self, seconds: float) -> str:
        """The last step that the child had told when it was killed."""
        child = subprocess.Popen(
            [sys.executable, "-m", "live.storage_child", self.kind, self.place.lab],
            env={**self.place.environment(), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert child.stdout is not None
        said = child.stdout.readline()
        try:
            if said == "ready\n":
                child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
        said += child.communicate()[0]
        assert child.returncode == -9, f"the child ended by itself: {said}"
        return said.splitlines()[-1]

    def _cleanup(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [MYDYNO, "cleanup", "--lab", self.place.lab],
            env=self.place.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture(params=["local"])
def killing(request: pytest.FixtureRequest) -> Iterator[Killing]:
    kind: str = request.param
    if kind == "local" and os.geteuid() != 0:
        pytest.skip("storage on host: local needs root")
    folder = Path(tempfile.mkdtemp(prefix="kill-", dir="/var/tmp"))
    folder.chmod(0o755)
    place = Place.at(folder)
    yield Killing(kind, place, seed=random.randrange(1_000_000))
    place.wait_until_dead(10.0)
    shutil.rmtree(folder)


def test_six_kills_leave_nothing(killing: Killing) -> None:
    killing.kill_and_clean(6)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_thirty_kills_leave_nothing_and_meet_every_step(killing: Killing) -> None:
    killing.kill_and_clean(30)
    assert set(killing.steps) >= {"raise", "load", "down"}, killing.steps
