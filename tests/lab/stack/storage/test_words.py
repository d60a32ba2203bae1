"""Small readings: schedulers, btrfs's profiles, limits."""

from __future__ import annotations

import pytest

from lab.stack.storage.recorded import recorded
from mydyno.lab.spec.storage import Volume
from mydyno.lab.stack.ground import DiskLimits
from mydyno.lab.stack.storage.array import ArrayLayer
from mydyno.lab.stack.storage.built import VolumeLayer
from mydyno.lab.stack.storage.degrade import shown
from mydyno.lab.stack.storage.filesystem import FileSystemLayer
from mydyno.lab.stack.storage.mount_options import parse_profiles, profile_differences
from mydyno.lab.stack.storage.queues import parse_schedulers


def test_the_scheduler_in_force_is_in_brackets() -> None:
    assert parse_schedulers("mq-deadline kyber [bfq] none\n") == (
        ("mq-deadline", "kyber", "bfq", "none"),
        "bfq",
    )
    assert parse_schedulers("") == ((), None)


def test_btrfs_reports_how_data_and_metadata_are_spread() -> None:
    result = parse_profiles(recorded("btrfs-df-6.2.txt"))
    assert result == {"data profile": "raid10", "metadata profile": "raid1"}
    assert profile_differences({"data profile": "raid10", "metadata profile": None}, result) == []
    assert profile_differences({"data profile": "raid0"}, result) == ["its data profile is raid10, not raid0"]


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


def test_another_chunk_makes_another_array_and_not_another_file_system() -> None:
    disks = {"count": 2, "size": "1G"}
    one, other = (
        Volume.model_validate({"disks": disks, "raid": "0", "chunk": chunk}) for chunk in ("64K", "128K")
    )
    assert ArrayLayer("data", one).fingerprint() != ArrayLayer("data", other).fingerprint()
    assert FileSystemLayer("data", one).fingerprint() == FileSystemLayer("data", other).fingerprint()


@pytest.mark.parametrize("kind", VolumeLayer.__subclasses__())
def test_every_layer_is_distinguished_by_fields_of_its_volume(kind: type[VolumeLayer]) -> None:
    wanted = Volume.model_validate({"disks": {"size": "1G"}})
    assert len(kind("data", wanted).fingerprint()) == 16
