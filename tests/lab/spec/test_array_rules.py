"""Arrays that cannot be are told before anything is built."""

from __future__ import annotations

import pytest

from mydyno.core.raid import Raid
from mydyno.lab.spec.array_rules import Format, Redundancy, impossible_array
from mydyno.lab.spec.arrays import Array

_XFS = Format("xfs")


def _told(array: Array, redundancy: Redundancy | None = None, written: Format = _XFS) -> list[str]:
    found = impossible_array(array, redundancy or Redundancy(), written)
    return [f"{each.key}: {each.message} ({each.allowed})" for each in found]


@pytest.mark.parametrize(
    "array",
    [
        Array("none", 1),
        Array("linear", 2),
        Array(0, 1),
        Array(0, 4, 12 * 1024),
        Array(1, 2),
        Array(5, 3, 4096, "ls"),
        Array(6, 4, layout="parity-last"),
        Array(10, 2),
        Array(10, 3, layout="f2"),
        Array(10, 4, layout="n4"),
    ],
)
def test_what_md_builds_is_not_refused(array: Array) -> None:
    assert _told(array) == []


@pytest.mark.parametrize(
    ("raid", "disks", "message"),
    [
        (1, 1, "RAID 1 needs 2 disks, not 1"),
        (4, 2, "RAID 4 needs 3 disks, not 2"),
        (5, 2, "RAID 5 needs 3 disks, not 2: of two it would be a mirror, which is RAID 1"),
        (6, 3, "RAID 6 needs 4 disks, not 3"),
        (10, 1, "RAID 10 needs 2 disks, not 1"),
    ],
)
def test_too_few_disks(raid: Raid, disks: int, message: str) -> None:
    (line,) = [each for each in _told(Array(raid, disks)) if each.startswith("disks")]
    assert line.startswith(f"disks: {message} (at least")


def test_several_disks_without_an_array_are_for_btrfs_only() -> None:
    assert _told(Array("none", 2)) == [
        "raid: xfs cannot use 2 disks without an array (linear, 0, 1, 4, 5, 6 or 10, "
        "or btrfs as the file system)"
    ]
    assert _told(Array("none", 2), written=Format("btrfs")) == []


@pytest.mark.parametrize("chunk", [2048, 3000, 5 * 1024])
def test_a_chunk_below_or_beside_4k(chunk: int) -> None:
    (line,) = _told(Array(0, 4, chunk))
    assert line.startswith("chunk: md takes no chunk of")
    assert line.endswith("(a multiple of 4K)")


def test_a_chunk_that_is_no_power_of_two_is_for_raid_0_only() -> None:
    assert _told(Array(5, 4, 96 * 1024)) == [
        "chunk: RAID 5 takes no chunk of 96K (a power of two: 4K, 8K, 16K, 32K, 64K ...)"
    ]


@pytest.mark.parametrize("raid", ["linear", 1])
def test_a_chunk_for_what_has_none(raid: Raid) -> None:
    assert [each.split(":")[0] for each in _told(Array(raid, 2, 65536))] == ["chunk"]


def test_layouts_belong_to_their_levels() -> None:
    assert _told(Array(5, 4, layout="n2"))[0].startswith("layout: RAID 5 has no layout 'n2' (left-symmetric,")
    assert _told(Array(1, 2, layout="n2")) == ["layout: RAID 1 has no choice of layout (leave layout out)"]
    assert _told(Array(10, 4, layout="near")) == [
        "layout: RAID 10 has no layout 'near' (n2, f2 or o2 (near, far, offset; the digit is the copies))"
    ]


def test_raid_10_needs_a_disk_for_each_copy_and_two_copies() -> None:
    assert _told(Array(10, 3, layout="f4")) == [
        "layout: the far layout with 4 copies needs 4 disks, not 3 (at most f3, or more disks)"
    ]
    assert _told(Array(10, 3, layout="n1")) == ["layout: RAID 10 keeps at least two copies (n2)"]


@pytest.mark.parametrize(
    ("raid", "redundancy", "key"),
    [
        (0, Redundancy(bitmap="internal"), "bitmap"),
        ("linear", Redundancy(consistency_policy="resync"), "consistency_policy"),
        (6, Redundancy(consistency_policy="ppl"), "consistency_policy"),
        (5, Redundancy(bitmap="none", consistency_policy="bitmap"), "bitmap"),
        (5, Redundancy(bitmap="internal", consistency_policy="ppl"), "bitmap"),
        (5, Redundancy(bitmap="internal", consistency_policy="resync"), "bitmap"),
    ],
)
def test_ways_to_keep_copies_true_that_do_not_go_together(
    raid: Raid, redundancy: Redundancy, key: str
) -> None:
    assert [each.split(":")[0] for each in _told(Array(raid, 4), redundancy)] == [key]


def test_no_bitmap_for_raid_0_is_what_it_has_anyway() -> None:
    assert _told(Array(0, 4), Redundancy(bitmap="none")) == []


def test_more_failures_than_the_level_survives() -> None:
    assert _told(Array(5, 4), Redundancy(fail=2)) == [
        "fail: RAID 5 of 4 disks survives 1 failed disk, not 2 (0 to 1)"
    ]
    assert _told(Array(0, 4), Redundancy(fail=1)) == [
        "fail: RAID 0 of 4 disks survives no failed disk, not 1 (0)"
    ]
    assert _told(Array(10, 4), Redundancy(fail=2, rebuild=True)) == []


def test_a_rebuild_needs_something_that_failed() -> None:
    assert _told(Array(5, 4), Redundancy(rebuild=True)) == [
        "rebuild: nothing fails that could be rebuilt (fail: 1 with it)"
    ]


def test_profiles_are_btrfs_and_need_their_devices() -> None:
    assert _told(Array("none", 1), written=Format("ext4", data_profile="raid1")) == [
        "data_profile: ext4 has no profiles: they are btrfs's own (filesystem: btrfs, or leave it out)"
    ]
    assert _told(Array("none", 2), written=Format("btrfs", metadata_profile="raid1c3")) == [
        "metadata_profile: btrfs profile raid1c3 needs 3 devices, not 2 (another profile, or more disks with "
        "raid: none)"
    ]
    (line,) = _told(Array(0, 4), written=Format("btrfs", data_profile="raid1"))
    assert line.startswith(
        "data_profile: btrfs profile raid1 needs 2 devices, not 1: the RAID 0 below it is one"
    )
    assert _told(Array("none", 1), written=Format("btrfs", data_profile="raid7"))[0].startswith(
        "data_profile: btrfs has no profile 'raid7'"
    )
