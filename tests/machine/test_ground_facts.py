"""What this machine has for grounds."""

from __future__ import annotations

import os

import pytest

from mydyno.core.facts import AskedDisk
from mydyno.machine.ground_facts import can_throttle, disk_facts, mountable, read_ground_facts
from mydyno.machine.local import LocalHost
from mydyno.machine.proc import has_capability


def test_only_file_systems_on_devices_and_modules_of_known_ones_are_mountable() -> None:
    filesystems = "nodev\tsysfs\nnodev\ttmpfs\n\text4\n\txfs\n"
    assert mountable(filesystems, ["jfs", "nls_utf8"]) == {"ext4", "xfs", "jfs"}
    assert mountable(None, []) == frozenset()


@pytest.mark.parametrize(
    ("mask", "has"), [("000001ffffffffff", True), ("00000000a80425fb", False), ("0000000000000000", False)]
)
def test_root_in_a_container_may_lack_the_right_to_mount(mask: str, has: bool) -> None:
    assert has_capability(f"Name:\tpython\nCapEff:\t{mask}\n", 21) == has
    assert not has_capability("", 21)


@pytest.mark.parametrize(
    ("line", "used", "can"),
    [
        ("blkio\t7\t1\t1", None, True),
        ("blkio\t0\t1\t1", "cpu memory", True),
        ("blkio\t0\t1\t1", "cpu io memory", False),
        ("blkio\t0\t1\t0", "", False),
        ("cpu\t1\t1\t1", "", False),
    ],
)
def test_blkio_can_be_had_unless_it_is_missing_or_v2_uses_it(line: str, used: str | None, can: bool) -> None:
    assert can_throttle(f"#subsys_name\thierarchy\tnum_cgroups\tenabled\n{line}\n", used) == can


def test_this_machine_shows_its_grounds() -> None:
    facts = read_ground_facts()
    assert facts.kernel == os.uname().release
    assert facts.disks == {}
    assert os.geteuid() == 0 or not facts.root


def test_a_disk_that_is_not_there_is_refused() -> None:
    asked = AskedDisk("/dev/disk/by-id/nothing-of-that-name")
    found = disk_facts(LocalHost(), asked)
    assert "/dev/disk/by-id/nothing-of-that-name" in found.refusals[0]
