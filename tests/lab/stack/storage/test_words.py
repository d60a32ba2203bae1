"""Small readings: schedulers, btrfs's profiles, limits."""

from __future__ import annotations

import pytest

from lab.stack.storage.recorded import recorded
from mydyno.lab.spec.storage import Volume
from mydyno.lab.stack.ground import DiskLimits
from mydyno.lab.stack.storage.array import ArrayLayer
from mydyno.lab.stack.storage.btrfs import parse_profiles, profile_differences
from mydyno.lab.stack.storage.scheduler import parse_schedulers
from mydyno.lab.stack.storage.throttle import shown


def test_the_scheduler_in_force_stands_in_brackets() -> None:
    assert parse_schedulers("mq-deadline kyber [bfq] none\n") == (
        ("mq-deadline", "kyber", "bfq", "none"),
        "bfq",
    )
    assert parse_schedulers("") == ((), None)


def test_btrfs_tells_how_data_and_metadata_are_spread() -> None:
    told = parse_profiles(recorded("btrfs-df-6.2.txt"))
    assert told == {"data profile": "raid10", "metadata profile": "raid1"}
    assert profile_differences({"data profile": "raid10", "metadata profile": None}, told) == []
    assert profile_differences({"data profile": "raid0"}, told) == ["its data profile is raid10, not raid0"]


def test_limits_say_how_reads_and_writes_are_counted() -> None:
    assert shown(DiskLimits(200, 50 << 20), "joint") == "200 IOPS, 50M/s, reads and writes together"
    assert shown(DiskLimits(iops=200), "separate") == "200 IOPS, reads and writes each"
    assert shown(DiskLimits(), "joint") == "none"


@pytest.mark.parametrize(
    ("count", "raid", "name"),
    [(1, "none", "data disk"), (2, "none", "data disks"), (2, "1", "data array")],
)
def test_a_volume_without_raid_is_not_called_an_array(count: int, raid: str, name: str) -> None:
    wanted = {"disks": {"count": count, "size": "1G"}, "raid": raid, "filesystem": "btrfs"}
    assert ArrayLayer("data", Volume.model_validate(wanted)).name == name
