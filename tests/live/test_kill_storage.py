"""SIGKILL at any moment of build-up, load and take-down: what lived is dead, and `cleanup` leaves nothing."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from live.leftovers import Place
from live.mydyno_process import MYDYNO
from mydyno.machine.images import ImageStore
from mydyno.machine.uml import UmlKernels

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.xdist_group("loops")]


STEPS = ("raise", "load", "down")

_LAST_WORDS_SECONDS = 20.0


@dataclass
class Killing:
    """One ground, one place, one seed of moments."""

    kind: str
    place: Place
    seed: int

    def kill_and_clean(self, times: int) -> None:
        moments = random.Random(self.seed)
        lengths = self._length_of_steps()
        self._clean(f"{self.kind}: the steps take {lengths} s here")
        for kill in range(1, times + 1):
            step = STEPS[kill % len(STEPS)]
            # A bit longer than the step, so that its end is met too.
            moment = moments.uniform(0.0, 1.1 * lengths[step])
            self._kill_a_child(f"{step} 1", moment)
            self._clean(f"{self.kind}, seed {self.seed}, kill {kill}: {moment:.3f} s after `{step}`")

    def _length_of_steps(self) -> dict[str, float]:
        """How long each step of the first turn takes; the child is killed at the second."""
        starts = {}
        with self._child() as child:
            for line in ("ready", "raise 1", "load 1", "down 1", "raise 2"):
                _hear(child, line)
                starts[line] = time.monotonic()
            child.kill()
        return {
            "raise": starts["load 1"] - starts["raise 1"],
            "load": starts["down 1"] - starts["load 1"],
            "down": starts["raise 2"] - starts["down 1"],
        }

    def _kill_a_child(self, step: str, seconds: float) -> None:
        """So long after it has told this step; at the latest in its next turn."""
        with self._child() as child:
            _hear(child, "ready")
            _hear_until(child, step)
            with suppress(subprocess.TimeoutExpired):
                child.wait(seconds)
            child.kill()
            assert child.stdout is not None
            said = child.stdout.read()
        assert child.returncode == -9, f"the child ended by itself: {said}"

    def _child(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "live.storage_child", self.kind, self.place.lab],
            env={**self.place.environment(), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _clean(self, context: str) -> None:
        print(context)
        try:
            self.place.wait_until_dead(10.0)
            done = self._cleanup()
            assert done.returncode == 0, done.stdout + done.stderr
            # A folder that another run has just made is told from a leftover once its server is configured,
            # which takes that run a while on a busy machine. What is left here stays.
            self.place.wait_until_clean(90.0)
        except AssertionError as error:
            raise AssertionError(f"{context}: {error}") from error

    def _cleanup(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [MYDYNO, "cleanup", "--lab", self.place.lab],
            env=self.place.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def _hear(child: subprocess.Popen[str], line: str) -> None:
    assert child.stdout is not None
    heard = child.stdout.readline()
    if heard != f"{line}\n":
        # What it fails with is still being written.
        with suppress(subprocess.TimeoutExpired):
            child.wait(_LAST_WORDS_SECONDS)
        child.kill()
        raise AssertionError(f"the child says no `{line}` but: {heard}{child.stdout.read()}")


def _hear_until(child: subprocess.Popen[str], line: str) -> None:
    for each in ("raise 1", "load 1", "down 1"):
        _hear(child, each)
        if each == line:
            return


@pytest.fixture(params=["local", "uml", "vm"])
def killing(request: pytest.FixtureRequest) -> Iterator[Killing]:
    kind = request.param
    if (missing := _missing(kind)) is not None:
        pytest.skip(missing)
    folder = Path(tempfile.mkdtemp(prefix="kill-", dir="/var/tmp"))
    folder.chmod(0o755)
    place = Place.at(folder)
    yield Killing(kind, place, seed=random.randrange(1_000_000))
    place.wait_until_dead(10.0)
    shutil.rmtree(folder)


def _missing(kind: str) -> str | None:
    """What this machine lacks for a ground; None: nothing."""
    if kind == "local" and os.geteuid() != 0:
        return "storage on host: local needs root"
    if kind == "uml" and not UmlKernels().all():
        return "no User-Mode Linux kernel is in mydyno's cache"
    if kind == "vm" and not ImageStore().images():
        return "no guest image is in mydyno's cache: `mydyno images build` makes one"
    return None


@pytest.mark.timeout(1800)
def test_thirty_kills_leave_nothing(killing: Killing) -> None:
    killing.kill_and_clean(30)
