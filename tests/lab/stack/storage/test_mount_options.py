"""A configured option is in force, or the difference is reported."""

from __future__ import annotations

import pytest

from lab.stack.storage.recorded import recorded
from mydyno.lab.stack.storage.mount_options import (
    Mounted,
    flushes,
    named_options,
    not_in_force,
    parse_findmnt,
)


def _mounted(filesystem: str, options: str) -> Mounted:
    return Mounted("/dev/md0", filesystem, tuple(options.split(",")), ())


@pytest.mark.parametrize("filesystem", ["ext4", "xfs", "jfs", "reiserfs", "btrfs"])
def test_a_mount_is_read_with_its_file_system_and_options(filesystem: str) -> None:
    found = parse_findmnt(recorded(f"findmnt-2.38-{filesystem}.json"))
    assert found is not None
    assert found.filesystem == filesystem
    assert found.general == ("rw", "relatime")


def test_no_mount_is_no_mount() -> None:
    assert parse_findmnt("") is None


@pytest.mark.parametrize(
    ("filesystem", "asked", "shown"),
    [
        ("xfs", "noatime", "rw,noatime,attr2"),
        ("xfs", "relatime", "rw,relatime,attr2"),
        ("xfs", "strictatime", "rw,attr2"),
        ("xfs", "lazytime", "rw,relatime,lazytime,attr2"),
        ("xfs", "logbsize=262144", "rw,relatime,logbsize=256k"),
        ("ext4", "barrier=0", "rw,relatime,nobarrier"),
        ("ext4", "noload", "rw,relatime,norecovery"),
        ("ext4", "data=writeback", "rw,relatime,data=writeback"),
        ("jfs", "discard", "rw,relatime,discard=64"),
        ("jfs", "integrity", "rw,relatime"),
        ("reiserfs", "barrier=flush", "rw,relatime"),
        ("reiserfs", "notail", "rw,relatime,notail"),
        ("btrfs", "compress=zstd", "rw,relatime,compress=zstd:3,ssd"),
        ("btrfs", "datacow", "rw,relatime,ssd"),
        ("btrfs", "commit=30", "rw,relatime,ssd"),
    ],
)
def test_an_option_in_force_is_recognised_as_kernels_show_it(filesystem: str, asked: str, shown: str) -> None:
    assert not_in_force([asked], _mounted(filesystem, shown)) == []


@pytest.mark.parametrize(
    ("filesystem", "asked", "shown"),
    [
        ("xfs", "strictatime", "rw,relatime,attr2"),
        ("ext4", "stripe=0", "rw,relatime,stripe=32"),
        ("reiserfs", "nolog", "rw,relatime"),
        ("reiserfs", "barrier=flush", "rw,relatime,barrier=none"),
        ("jfs", "integrity", "rw,relatime,nointegrity"),
        ("btrfs", "datacow", "rw,relatime,nodatacow"),
        ("xfs", "logbsize=256k", "rw,relatime,logbsize=32k"),
    ],
)
def test_an_option_that_was_dropped_without_a_word_is_reported(
    filesystem: str, asked: str, shown: str
) -> None:
    assert not_in_force([asked], _mounted(filesystem, shown)) == [asked]


def test_ext4_shows_its_defaults_elsewhere() -> None:
    text = recorded("ext4-options-6.1.txt").split()
    mounted = _mounted("ext4", "rw,noatime,stripe=32")
    asked = ["noatime", "acl", "commit=5", "data=ordered", "barrier=1", "nodiscard"]
    assert not_in_force(asked, mounted, text) == []
    assert not_in_force([*asked, "data=writeback"], mounted, text) == ["data=writeback"]


@pytest.mark.parametrize(
    ("filesystem", "own", "expected"),
    [
        ("ext4", "rw,stripe=32", True),
        ("ext4", "rw,nobarrier,stripe=32", False),
        ("reiserfs", "rw", True),
        ("reiserfs", "rw,barrier=none", False),
        ("jfs", "rw", False),
        ("ext2", "rw", True),
    ],
)
def test_a_mount_whose_fsync_leaves_data_in_the_disks_cache_is_known(
    filesystem: str, own: str, expected: bool
) -> None:
    """As counted in a guest: docs/reference/file-systems.md has the flush requests of each."""
    assert flushes(Mounted("/dev/md0", filesystem, ("rw", "relatime"), tuple(own.split(",")))) is expected


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("xfs: Unknown parameter 'nobarrier'", ("nobarrier",)),
        ('[    1.2] EXT4-fs (md0): Unrecognized mount option "nonsense" or missing value', ("nonsense",)),
        ("ext4: Bad value for 'data'", ("data=nonsense",)),
        ('jfs: Unrecognized mount option "barrier" or missing value', ("barrier",)),
        ('REISERFS warning: reiserfs_getopt: unknown mount option "nonsense"', ("nonsense",)),
        ("mount: /run/x: wrong fs type, bad option, bad superblock on /dev/md0", ()),
        ("XFS (md0): stripe width (7) must be a multiple of the stripe unit (8)", ()),
    ],
)
def test_a_refusal_names_the_option_or_none(words: str, named: tuple[str, ...]) -> None:
    """As kernels were heard to refuse (tests/live/test_storage.py)."""
    asked = ("noatime", "nobarrier", "barrier", "nonsense", "data=nonsense", "swidth=7")
    assert named_options(words, asked) == named
