"""CPUs and disks over an interval."""

from __future__ import annotations

import pytest

from mydyno.survey.facts import DiskLoad
from mydyno.survey.host.kernel import Counters, load_between, read_counters
from mydyno.survey.host.machine import LocalMachine

BEFORE = Counters(
    100.0,
    "cpu  1000 0 1000 5000 500 0 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n",
    "   8 0 sda 100 0 800 50 200 0 1600 90 0 4000 140\n",
)
AFTER = Counters(
    110.0,
    "cpu  2400 0 1400 5100 600 0 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n",
    "   8 0 sda 150 0 800 50 700 0 1600 90 0 9000 140\n   8 16 sdb 1 0 8 1 0 0 0 0 0 1 1\n",
)


def test_shares_of_cpu_time_and_the_work_of_disks_are_what_grew() -> None:
    load = load_between(BEFORE, AFTER)
    assert load is not None
    assert (load.seconds, load.cpus) == (10.0, 2)
    assert (load.cpu_busy, load.cpu_waiting, load.cpu_stolen) == (0.9, 0.05, 0.0)
    assert load.disks == (DiskLoad(name="sda", busy=0.5, reads=5.0, writes=50.0),)


@pytest.mark.parametrize(("before", "after"), [(None, AFTER), (BEFORE, None), (BEFORE, BEFORE)])
def test_without_two_readings_nothing_is_reported(before: Counters | None, after: Counters | None) -> None:
    assert load_between(before, after) is None


def test_this_machine_shows_its_counters() -> None:
    counters = read_counters(LocalMachine())
    assert counters is not None
    assert counters.stat.startswith("cpu ")
