"""fio in a User-Mode Linux guest: on a mounted file system and on a bare device, against limited disks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from live.uml import NEEDS_KERNEL, ground_layer
from mydyno.lab.load import messages
from mydyno.lab.load.fio import Fio
from mydyno.lab.load.fio.driver import Part
from mydyno.lab.stack import BuiltLayers, Site
from mydyno.lab.stack.ground import DiskLimits
from mydyno.lab.stack.ground.uml import UmlGround
from mydyno.lab.workload.external_program import FioOptions

pytestmark = [
    pytest.mark.live,
    NEEDS_KERNEL,
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed"),
]

MOUNTED = Path("/run/mydyno/data")
LIMIT = 100
LEAST = 0.3
"""Of the limit: what a guest of a busy machine reaches at least."""


@pytest.fixture
def ground(site: Site) -> Iterator[UmlGround]:
    layer = ground_layer(site, count=1, size="320M")
    ground = layer.build(site, BuiltLayers())
    yield ground
    layer.remove(site, ground)


def drive(ground: UmlGround, place: Path, folder: Path, part: Part) -> list[Any]:
    asked = {"rw": "randwrite", "size": "32M", "runtime": "4s", "iodepth": 8}
    with Fio(
        FioOptions.model_validate(asked),
        place,
        ground.host,
        seed=1,
        interval_s=1.0,
        folder=folder,
        part=part,
    ) as fio:
        return list(fio)


def measured_in_between(site: Site, ground: UmlGround, place: Path) -> messages.PhaseEnd:
    """The files are filled at full speed, then the disk is limited."""
    folder = site.lab / "trial"
    [disk] = ground.disks["data"]
    drive(ground, place, folder, "fill")
    ground.throttle({disk: DiskLimits(iops=LIMIT)})
    heard = drive(ground, place, folder, "measure")
    intervals = [message.queries for message in heard if isinstance(message, messages.Interval)]
    assert len(intervals) == 4
    # The limit lets a burst through at the start. Less than it lets through is a busy machine's.
    assert all(0 < each < LIMIT * 1.5 for each in intervals[1:]), intervals
    samples = [message for message in heard if isinstance(message, messages.Sample)]
    assert samples[-1].host.disks[disk.path.name].writes > samples[0].host.disks[disk.path.name].writes
    [end] = [message for message in heard if isinstance(message, messages.PhaseEnd)]
    assert isinstance(end, messages.PhaseEnd)
    return end


def rate(end: messages.PhaseEnd) -> float:
    assert end.measured_from_ns is not None
    assert end.measured_to_ns is not None
    return end.queries.count / ((end.measured_to_ns - end.measured_from_ns) / 1e9)


def test_on_a_file_system_it_measures_the_limit_of_the_disk_and_leaves_nothing(
    site: Site, ground: UmlGround
) -> None:
    [disk] = ground.disks["data"]
    # Without lazy initialisation, whose writes take their share of the limit when the guest is slow.
    at_once = "lazy_itable_init=0,lazy_journal_init=0"
    for argv in (
        ("mkfs.ext4", "-q", "-E", at_once, str(disk.path)),
        ("mkdir", "-p", str(MOUNTED)),
        ("mount", str(disk.path), str(MOUNTED)),
    ):
        assert ground.host.run(argv, timeout_seconds=60).returncode == 0
    end = measured_in_between(site, ground, MOUNTED)
    assert LIMIT * LEAST < rate(end) < LIMIT * 1.15
    assert end.statements.keys() == {"write"}
    # A full queue: each of eight waits for the seven before it.
    assert end.queries.latency.mean_ns == pytest.approx(8 / rate(end) * 1e9, rel=0.25)
    assert not ground.host.exists(MOUNTED / "mydyno-fio")


def test_on_a_bare_device_the_device_is_the_file(site: Site, ground: UmlGround) -> None:
    [disk] = ground.disks["data"]
    assert LIMIT * LEAST < rate(measured_in_between(site, ground, disk.path)) < LIMIT * 1.15
