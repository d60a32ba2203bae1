"""Volumes in a User-Mode Linux guest: every array under every file system, and what goes wrong.

One guest with five small disks serves them all; the layers change on it as they do between trials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lab.stack.builders import site_in

from live.uml import NEEDS_KERNEL
from mydyno.core.errors import StorageError
from mydyno.lab.spec.host import Host
from mydyno.lab.spec.storage import Storage
from mydyno.lab.stack import BuiltLayers, Stack
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.ground.uml import UmlGroundLayer
from mydyno.lab.stack.storage import MountedVolume, building_layers, described, loading_layers

pytestmark = [pytest.mark.live, pytest.mark.slow, NEEDS_KERNEL]

Build = Callable[..., BuiltLayers]

ARRAYS = ("linear", 0, 1, 4, 5, 6, 10)
FILE_SYSTEMS = ("ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "reiserfs")
# Each level and each file system once; all pairs are the slow test.
PAIRS = tuple(zip(ARRAYS, FILE_SYSTEMS, strict=True))

DATA_DISKS = {"count": 4, "size": "512M"}
LOG = {"disks": {"count": 1, "size": "512M"}, "raid": "none", "filesystem": "ext4"}
EVERYTHING = Storage.model_validate({"data": {"disks": DATA_DISKS, "raid": 0}, "log": LOG})


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Build]:
    folder = tmp_path_factory.mktemp("storage")
    folder.chmod(0o755)
    ground = UmlGroundLayer(
        Host.model_validate({"kind": "uml", "memory": "1G"}), EVERYTHING, folder, trial="storage"
    )
    with Stack(site_in(folder / "lab")) as stack:

        def move_to(*, log: bool = False, **volume: Any) -> BuiltLayers:
            written = {"data": {"disks": DATA_DISKS, **volume}, **({"log": LOG} if log else {})}
            storage = Storage.model_validate(written)
            return stack.move_to([ground, *building_layers(storage), *loading_layers(storage)])

        yield move_to


def _write_and_read(built: BuiltLayers, volume: MountedVolume) -> None:
    host = built.of(Ground).host  # type: ignore[type-abstract]
    host.write_text(volume.path / "probe", "what was written")
    assert host.run(["sync", "--file-system", str(volume.path)]).returncode == 0
    assert host.read_text(volume.path / "probe") == "what was written"


@pytest.mark.parametrize(("raid", "filesystem"), PAIRS)
def test_an_array_under_a_file_system_stands_as_asked(build: Build, raid: int | str, filesystem: str) -> None:
    built = build(raid=raid, filesystem=filesystem, mount=["noatime"])
    result = described(built)["data"]
    level = raid if raid == "linear" else f"raid{raid}"
    assert result["array"] == f"md {level} of 4 (/dev/md0)"
    assert result["array state"] in ("clean", "active")
    assert result["file system"] == filesystem
    assert "noatime" in result["mount"].split(",")
    _write_and_read(built, built.of(MountedVolume))


@pytest.mark.slow
@pytest.mark.parametrize("filesystem", FILE_SYSTEMS)
@pytest.mark.parametrize("raid", ARRAYS)
def test_every_array_stands_under_every_file_system(build: Build, raid: int | str, filesystem: str) -> None:
    built = build(raid=raid, filesystem=filesystem)
    assert described(built)["data"]["file system"] == filesystem
    _write_and_read(built, built.of(MountedVolume))


@pytest.mark.parametrize(
    ("raid", "filesystem", "alignment"),
    [
        (0, "xfs", "su=65536,sw=4"),
        (4, "xfs", "su=65536,sw=3"),
        (5, "ext4", "stride=16,stripe_width=48"),
        (6, "ext3", "stride=16,stripe_width=32"),
        (10, "xfs", "su=65536,sw=2"),
        (1, "xfs", "none"),
    ],
)
def test_a_file_system_knows_the_stripes_below_it(
    build: Build, raid: int, filesystem: str, alignment: str
) -> None:
    result = described(build(raid=raid, chunk="64K", filesystem=filesystem))["data"]
    assert result["alignment"] == alignment


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ({"raid": 10, "layout": "f2"}, {"layout": "far=2"}),
        ({"raid": 10, "layout": "o2", "chunk": "16K"}, {"layout": "offset=2", "chunk": "16K"}),
        ({"raid": 5, "layout": "right-asymmetric"}, {"layout": "right-asymmetric"}),
        ({"raid": 5, "consistency_policy": "ppl"}, {"consistency policy": "ppl"}),
        ({"raid": 6, "consistency_policy": "bitmap"}, {"consistency policy": "bitmap"}),
        ({"raid": 1, "bitmap": "internal"}, {"consistency policy": "bitmap"}),
    ],
)
def test_layouts_and_policies_are_in_force(
    build: Build, volume: dict[str, Any], expected: dict[str, str]
) -> None:
    found = described(build(filesystem="ext2", **volume))["data"]
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("data", "metadata"),
    [("raid0", "raid1"), ("raid1c3", "raid1c3"), ("raid10", "raid10"), ("raid5", "raid1")],
)
def test_btrfs_spreads_itself(build: Build, data: str, metadata: str) -> None:
    result = described(build(filesystem="btrfs", data_profile=data, metadata_profile=metadata))["data"]
    assert (result["array"], result["data profile"], result["metadata profile"]) == (
        "none, 4 disks",
        data,
        metadata,
    )


def test_f2fs_and_a_raw_device_stand_too(build: Build) -> None:
    built = build(raid=10, filesystem="f2fs")
    _write_and_read(built, built.of(MountedVolume))
    built = build(raid=10, filesystem="raw")
    volume, host = built.of(MountedVolume), built.of(Ground).host  # type: ignore[type-abstract]
    text = host.run(["stat", "-c", "%F %U", str(volume.path)]).stdout.strip()
    owner = host.server_identity.name if host.server_identity else "root"
    assert text == f"block special file {owner}"


def test_the_log_has_a_volume_of_its_own(build: Build) -> None:
    built = build(raid=0, filesystem="xfs", log=True)
    assert [volume.path for volume in built.all(MountedVolume)] == [
        Path("/run/mydyno/data"),
        Path("/run/mydyno/log"),
    ]
    assert described(built)["log"]["file system"] == "ext4"


@pytest.mark.parametrize(
    ("filesystem", "option", "words"),
    [
        ("xfs", "nobarrier", "xfs: Unknown parameter 'nobarrier'"),
        ("ext4", "nonsense", "ext4: Unknown parameter 'nonsense'"),
        ("ext4", "data=nonsense", "ext4: Bad value for 'data'"),
        ("jfs", "barrier", 'jfs: Unrecognized mount option "barrier"'),
        ("reiserfs", "nonsense", 'reiserfs_getopt: unknown mount option "nonsense"'),
    ],
)
def test_a_mount_option_that_the_kernel_refuses_is_reported_with_its_last_line(
    build: Build, filesystem: str, option: str, words: str
) -> None:
    with pytest.raises(StorageError) as caught:
        build(raid=0, filesystem=filesystem, mount=[option])
    assert f"could not be mounted with {option}" in caught.value.message
    assert words in caught.value.message.splitlines()[-1]


def test_a_mount_option_that_the_kernel_takes_and_drops_is_an_error(build: Build) -> None:
    with pytest.raises(StorageError, match=r"accepted nolog for reiserfs without an error"):
        build(raid=0, filesystem="reiserfs", mount=["nolog"])


def test_jfs_and_file_systems_without_barriers_are_known_not_to_empty_the_disks_cache(build: Build) -> None:
    key = "fsync empties the disk's cache"
    assert described(build(raid=0, filesystem="jfs"))["data"][key] == "no"
    assert described(build(raid=0, filesystem="ext4", mount=["barrier=0"]))["data"][key] == "no"
    assert described(build(raid=0, filesystem="ext4"))["data"][key] == "yes"


def test_schedulers_are_those_that_the_kernel_lists(build: Build) -> None:
    for scheduler in ("none", "mq-deadline", "kyber", "bfq"):
        assert (
            described(build(raid=0, filesystem="ext2", scheduler=scheduler))["data"]["scheduler"] == scheduler
        )


@pytest.mark.parametrize(
    ("raid", "fail", "failed"),
    [(5, 1, "/dev/ubda"), (6, 2, "/dev/ubda, /dev/ubdb"), (10, 2, "/dev/ubda, /dev/ubdc"), (1, 3, None)],
)
def test_an_array_without_some_of_its_disks_still_serves(
    build: Build, raid: int, fail: int, failed: str | None
) -> None:
    built = build(raid=raid, filesystem="xfs", fail=fail)
    result = described(built)["data"]
    assert result["array state"] == "clean, degraded"
    assert failed in (None, result["failed disks"])
    _write_and_read(built, built.of(MountedVolume))


def test_a_rebuild_runs_while_the_load_begins(build: Build) -> None:
    result = described(build(raid=5, filesystem="ext4", fail=1, rebuild=True))["data"]
    assert result["array state"] == "clean, degraded, recovering"
    assert result["rebuild as the load begins"].endswith("% complete")


@pytest.mark.slow
@pytest.mark.parametrize("raid", [1, 5])
def test_a_first_synchronisation_is_waited_for(build: Build, raid: int) -> None:
    built = build(raid=raid, filesystem="xfs", initial_sync="await")
    assert described(built)["data"]["array state"] in ("clean", "active")
    mdstat = built.of(Ground).host.read_text(Path("/proc/mdstat"))  # type: ignore[type-abstract]
    assert mdstat is not None
    assert "resync" not in mdstat
    assert "recovery" not in mdstat


def test_what_is_taken_down_leaves_bare_disks(build: Build) -> None:
    """Without an array, the disks of the array before are single disks again."""
    build(raid=10, filesystem="xfs")
    built = build(filesystem="btrfs", data_profile="single", metadata_profile="dup")
    host = built.of(Ground).host  # type: ignore[type-abstract]
    mdstat = host.read_text(Path("/proc/mdstat"))
    assert mdstat is not None
    assert "active" not in mdstat
