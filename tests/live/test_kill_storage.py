"""SIGKILL at any moment of build-up, load and take-down: what lived is dead, and `cleanup` leaves nothing."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from live.leftovers import Place
from live.mydyno_process import MYDYNO
from mydyno.host.images import ImageStore
from mydyno.host.uml import UmlKernels

pytestmark = pytest.mark.live


@dataclass
class Killing:
    """One ground, one place, one seed of moments."""

    kind: str
    place: Place
    seed: int
    steps: Counter[str] = field(default_factory=Counter)

    def kill_and_clean(self, times: int) -> None:
        moments = random.Random(self.seed)
        turn = self._turn_seconds()
        self._clean(f"{self.kind}: one turn takes {turn:.2f} s here")
        for kill in range(1, times + 1):
            # A bit more than a turn, so that its end is met as often as the rest.
            moment = moments.uniform(0.0, 1.1 * turn)
            step = self._kill_a_child_after(moment)
            self.steps[step.split(" ")[0]] += 1
            self._clean(f"{self.kind}, seed {self.seed}, kill {kill} after {moment:.3f} s, at {step!r}")

    def _turn_seconds(self) -> float:
        """How long a child takes from `ready` to its second turn, which it does not finish."""
        with self._child() as child:
            assert child.stdout is not None
            said = [child.stdout.readline()]
            started = time.monotonic()
            while said[-1] and said[-1] != "raise 2\n":
                said.append(child.stdout.readline())
            child.kill()
        assert said[-1], f"the child ended by itself: {''.join(said)}"
        return time.monotonic() - started

    def _kill_a_child_after(self, seconds: float) -> str:
        """The last step that the child had told when it was killed."""
        with self._child() as child:
            assert child.stdout is not None
            said = child.stdout.readline()
            if said == "ready\n":
                with suppress(subprocess.TimeoutExpired):
                    child.wait(seconds)
                child.kill()
            said += child.stdout.read()
        assert child.returncode == -9, f"the child ended by itself: {said}"
        return said.splitlines()[-1]

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
            self.place.wait_until_clean(10.0)
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


def _killing(kind: str) -> Iterator[Killing]:
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


@pytest.fixture(params=["local", "uml"])
def quick(request: pytest.FixtureRequest) -> Iterator[Killing]:
    """The grounds that rise in seconds."""
    yield from _killing(request.param)


@pytest.fixture(params=["local", "uml", "vm"])
def every(request: pytest.FixtureRequest) -> Iterator[Killing]:
    yield from _killing(request.param)


def test_six_kills_leave_nothing(quick: Killing) -> None:
    quick.kill_and_clean(6)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_thirty_kills_leave_nothing_and_meet_every_step(every: Killing) -> None:
    every.kill_and_clean(30)
    assert set(every.steps) >= {"raise", "load", "down"}, every.steps
