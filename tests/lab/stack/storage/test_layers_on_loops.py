"""Every layer that this machine's own kernel can carry, on loop devices in private namespaces."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.stack.builders import site_in
from lab.stack.loops import needs_loops
from mydyno.core.errors import MissingToolError, StorageError
from mydyno.lab.spec.host import Host
from mydyno.lab.spec.storage import Storage
from mydyno.lab.stack import BuiltLayers, Stack
from mydyno.lab.stack.ground.local import LocalGroundLayer
from mydyno.lab.stack.storage import MountedVolume, building_layers, described, loading_layers
from mydyno.machine.programs import find_program

Build = Callable[..., BuiltLayers]
"""`build(2, filesystem="xfs")`: a data volume of so many disks with these values."""


def _has_agent() -> bool:
    try:
        find_program("mydyno-agent")
    except MissingToolError:
        return False
    return True


pytestmark = [needs_loops, pytest.mark.skipif(not _has_agent(), reason="mydyno-agent is not installed")]


@pytest.fixture
def build(open_folder: Path) -> Iterator[Build]:
    with Stack(site_in(open_folder / "lab")) as stack:

        def move_to(disks: int, **volume: Any) -> BuiltLayers:
            storage = Storage.model_validate({"data": {"disks": {"count": disks, "size": "320M"}, **volume}})
            ground = LocalGroundLayer(Host(), storage, open_folder, trial=f"{disks} disks")
            return stack.move_to([ground, *building_layers(storage), *loading_layers(storage)])

        yield move_to


@pytest.mark.parametrize("filesystem", ["ext2", "ext3", "ext4", "xfs", "btrfs"])
def test_a_file_system_is_mounted_as_configured_and_its_folder_is_the_servers(
    build: Build, filesystem: str
) -> None:
    built = build(1, filesystem=filesystem, mount=["noatime"])
    volume = built.of(MountedVolume)
    result = described(built)["data"]
    assert volume.path == Path("/run/mydyno/data")
    assert result["file system"] == filesystem
    assert "noatime" in result["mount"].split(",")
    assert result["fsync empties the disk's cache"] == "yes"
    assert not os.path.ismount(volume.path), "it is mounted in namespaces of its own only"


def test_btrfs_spreads_over_disks_and_is_never_called_an_array(build: Build) -> None:
    result = described(build(4, filesystem="btrfs", data_profile="raid10", metadata_profile="raid1"))["data"]
    assert result["array"] == "none, 4 disks"
    assert (result["data profile"], result["metadata profile"]) == ("raid10", "raid1")


def test_scheduler_queue_and_readahead_are_set_on_every_disk_and_read_back(build: Build) -> None:
    built = build(2, filesystem="btrfs", scheduler="mq-deadline", queue_depth=64, readahead="256K")
    result = described(built)["data"]
    assert (result["scheduler"], result["queue depth"], result["readahead"]) == ("mq-deadline", "64", "256K")


def test_an_option_that_the_kernel_refuses_is_reported_with_its_words(build: Build) -> None:
    with pytest.raises(StorageError, match=r"xfs of data could not be mounted with noatime,nonsense"):
        build(1, filesystem="xfs", mount=["noatime", "nonsense"])


def test_a_readahead_that_the_kernel_rounds_is_refused(build: Build) -> None:
    with pytest.raises(StorageError, match=r"read_ahead_kb says 4 after 7 was written"):
        build(1, filesystem="ext4", readahead="7K")


def test_an_unaligned_file_system_says_so(build: Build) -> None:
    result = described(build(1, filesystem="ext4", mkfs=["-E", "stride=16,stripe_width=64"]))["data"]
    assert result["alignment"] == "stride=16,stripe_width=64"
    assert described(build(1, filesystem="ext4"))["data"]["alignment"] == "none"


def test_a_raw_volume_is_a_node_that_the_server_may_open(build: Build) -> None:
    volume = build(1, filesystem="raw").of(MountedVolume)
    assert volume.path == volume.device == Path("/run/mydyno/data/device")
    assert described(build(1, filesystem="raw"))["data"]["file system"] == "none (raw device)"


def test_a_change_of_the_mount_leaves_the_file_system_as_it_is(build: Build) -> None:
    first = build(1, filesystem="xfs", mount=["noatime"])
    second = build(1, filesystem="xfs", mount=["lazytime"])
    assert first.all(MountedVolume) != second.all(MountedVolume)
    assert "lazytime" in described(second)["data"]["mount"].split(",")


def test_what_was_changed_is_restored_when_it_is_not_configured_any_more(build: Build) -> None:
    before = described(build(1, filesystem="ext4"))["data"]
    changed = described(build(1, filesystem="ext4", scheduler="bfq", queue_depth=32, readahead="64K"))["data"]
    after = described(build(1, filesystem="ext4"))["data"]
    assert (changed["scheduler"], changed["queue depth"], changed["readahead"]) == ("bfq", "32", "64K")
    assert after == before


@pytest.mark.skipif(
    "reiserfs" in Path("/proc/filesystems").read_text(), reason="this kernel has reiserfs, which few have"
)
def test_a_file_system_that_the_kernel_lacks_is_reported_with_the_host_that_has_it(build: Build) -> None:
    with pytest.raises(StorageError, match=r"does not support the file system reiserfs") as caught:
        build(1, filesystem="reiserfs")
    assert caught.value.hint is not None
    assert "host: uml supports it" in caught.value.hint
