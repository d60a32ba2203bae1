"""Command lines of mkfs, and what file systems tell of themselves."""

from __future__ import annotations

from typing import Any

import pytest

from lab.stack.storage.recorded import recorded
from mydyno.lab.spec.arrays import Alignment, Stripe, alignment
from mydyno.lab.spec.storage import Volume
from mydyno.lab.stack.storage.filesystem import (
    geometry_command,
    geometry_shown,
    known_filesystems,
    mkfs_command,
    parse_blkid,
)

_STRIPE = Stripe(64 * 1024, 2)


def _volume(**values: Any) -> Volume:
    return Volume.model_validate({"disks": {"size": "1G"}, **values})


def _command(aligned: Alignment | None = None, **values: Any) -> str:
    return " ".join(mkfs_command(_volume(**values), ["/dev/md0"], aligned))


@pytest.mark.parametrize(
    ("filesystem", "command"),
    [
        ("ext2", "mkfs.ext2 -q -F -b 4096 -E nodiscard /dev/md0"),
        ("ext3", "mkfs.ext3 -q -F -b 4096 -E nodiscard /dev/md0"),
        ("ext4", "mkfs.ext4 -q -F -b 4096 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 /dev/md0"),
        ("xfs", "mkfs.xfs -q -f -K /dev/md0"),
        ("btrfs", "mkfs.btrfs -q -f -K /dev/md0"),
        ("jfs", "mkfs.jfs -q /dev/md0"),
        ("reiserfs", "mkfs.reiserfs -q -ff /dev/md0"),
        ("f2fs", "mkfs.f2fs -q -f -t 0 /dev/md0"),
    ],
)
def test_every_file_system_is_made_without_questions(filesystem: str, command: str) -> None:
    assert _command(filesystem=filesystem) == command


def test_a_real_disk_is_discarded_as_mkfs_does_by_itself() -> None:
    disks = {"devices": [{"id": "/dev/disk/by-id/nvme-X", "serial": "S1"}]}
    for filesystem, command in (
        ("xfs", "mkfs.xfs -q -f /dev/md0"),
        ("ext3", "mkfs.ext3 -q -F -b 4096 /dev/md0"),
    ):
        assert _command(disks=disks, filesystem=filesystem) == command


def test_the_alignment_comes_before_the_options_of_the_user() -> None:
    aligned = alignment("xfs", _STRIPE, ())
    assert _command(aligned, filesystem="xfs", mkfs=["-i", "size=1024"]) == (
        "mkfs.xfs -q -f -K -d su=65536,sw=2 -i size=1024 /dev/md0"
    )


def test_ext_takes_only_its_last_extended_options_so_they_are_made_one() -> None:
    aligned = alignment("ext3", _STRIPE, ())
    assert _command(aligned, filesystem="ext3", mkfs=["-E", "discard", "-m", "0"]) == (
        "mkfs.ext3 -q -F -b 4096 -E nodiscard,stride=16,stripe_width=32,discard -m 0 /dev/md0"
    )


def test_a_block_size_of_the_user_is_the_only_one() -> None:
    assert _command(filesystem="ext2", mkfs=["-b", "1024"]) == "mkfs.ext2 -q -F -E nodiscard -b 1024 /dev/md0"


def test_btrfs_gets_its_profiles_and_all_its_devices() -> None:
    volume = _volume(
        disks={"count": 2, "size": "1G"}, filesystem="btrfs", data_profile="raid1", metadata_profile="raid1"
    )
    assert mkfs_command(volume, ["/dev/vda", "/dev/vdb"], None) == [
        *["mkfs.btrfs", "-q", "-f", "-K", "-d", "raid1", "-m", "raid1"],
        *["/dev/vda", "/dev/vdb"],
    ]


def test_the_stripes_that_xfs_and_ext_believe_in_are_in_the_words_of_the_alignment() -> None:
    """Both were made for RAID 10 of four disks with chunks of 64K."""
    for filesystem, file in (("xfs", "xfs_db-6.1.txt"), ("ext4", "dumpe2fs-1.47-ext4.txt")):
        asked = alignment(filesystem, _STRIPE, ())
        assert asked is not None
        assert geometry_shown(filesystem, recorded(file)) == asked.shown


def test_a_file_system_without_stripes_shows_none() -> None:
    assert geometry_shown("xfs", "blocksize = 4096\nunit = 0\nwidth = 0\n") is None
    without = [line for line in recorded("dumpe2fs-1.47-ext4.txt").splitlines() if "RAID" not in line]
    assert geometry_shown("ext4", "\n".join(without)) is None


def test_file_systems_without_a_geometry_have_no_command_for_it() -> None:
    assert [geometry_command(kind, "/dev/md0") for kind in ("btrfs", "jfs", "reiserfs", "f2fs")] == [None] * 4


def test_blkid_names_the_file_system() -> None:
    assert parse_blkid(recorded("blkid-2.38-xfs.txt"))["TYPE"] == "xfs"
    assert parse_blkid(recorded("blkid-2.38-jfs.txt"))["TYPE"] == "jfs"


def test_the_kernel_lists_file_systems_with_and_without_devices() -> None:
    assert known_filesystems("nodev\tsysfs\nnodev\tproc\n\text4\n\txfs\n") == {"sysfs", "proc", "ext4", "xfs"}
