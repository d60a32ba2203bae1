"""Disks, arrays and what is built on them, from the files of /sys/block."""

from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.survey.facts import Unread
from mydyno.survey.host.disks import kind_of, read_arrays, read_disks, read_tree, read_volumes, volume_name
from survey.host.machines import machine

FILES = {
    "/sys/block/sda/size": "1000\n",
    "/sys/block/sda/sda1/partition": "1\n",
    "/sys/block/sda/queue/scheduler": "none [mq-deadline] kyber bfq\n",
    "/sys/block/sda/queue/rotational": "1\n",
    "/sys/block/sda/queue/read_ahead_kb": "128\n",
    "/sys/block/sda/queue/nr_requests": "64\n",
    "/sys/block/sda/queue/write_cache": "write back\n",
    "/sys/block/sda/queue/discard_max_bytes": "0\n",
    "/sys/block/sda/removable": "0\n",
    "/sys/block/sda/stat": " 4000 7 99 2000 600 8 77 5500 0 3000 7500\n",
    "/sys/block/sda/device/model": "ST4000NM0035    \n",
    "/sys/block/sdb/size": "1000\n",
    "/sys/block/sdb/sdb1/partition": "1\n",
    "/sys/block/sdc/size": "0\n",
    "/sys/block/sr0/size": "0\n",
    "/sys/block/loop0/size": "0\n",
    "/sys/block/md0/size": "1000\n",
    "/sys/block/md0/slaves/sda1/x": "",
    "/sys/block/md0/slaves/sdb1/x": "",
    "/sys/block/md0/md/level": "raid1\n",
    "/sys/block/md0/md/raid_disks": "2\n",
    "/sys/block/md0/md/degraded": "1\n",
    "/sys/block/md0/md/chunk_size": "0\n",
    "/sys/block/md0/md/array_state": "active\n",
    "/sys/block/md0/md/sync_action": "recover\n",
    "/sys/block/md0/md/bitmap/location": "+8\n",
    "/sys/block/md0/md/bitmap/chunksize": "67108864\n",
    "/sys/block/md0/queue/read_ahead_kb": "4096\n",
    "/sys/block/dm-0/size": "900\n",
    "/sys/block/dm-0/slaves/md0/x": "",
    "/sys/block/dm-0/dm/name": "my--vg-data",
    "/sys/block/dm-0/dm/uuid": "LVM-abc\n",
}


def test_disks_are_those_with_a_size_and_what_holds_no_data_is_left_out(tmp_path: Path) -> None:
    here = machine(tmp_path, FILES)
    disks = {disk.name: disk for disk in read_disks(here, read_tree(here, []), ())}
    assert set(disks) == {"sda", "sdb"}
    sda = disks["sda"]
    assert (sda.kind, sda.size_bytes, sda.model) == ("rotating", 512_000, "ST4000NM0035")
    assert (sda.scheduler, sda.schedulers) == ("mq-deadline", ("none", "mq-deadline", "kyber", "bfq"))
    assert (sda.read_ahead_kib, sda.requests, sda.write_cache) == (128, 64, "write back")
    assert (sda.discards, sda.removable) == (False, False)
    assert (sda.reads, sda.read_seconds, sda.writes, sda.write_seconds) == (4000, 2.0, 600, 5.5)
    assert disks["sdb"].reads is None
    assert (disks["sdb"].kind, disks["sdb"].scheduler) == (None, None)


def test_a_loop_that_the_server_uses_is_a_disk_too(tmp_path: Path) -> None:
    here = machine(tmp_path, {"/sys/block/loop3/size": "2048\n", "/sys/block/loop4/size": "2048\n"})
    assert [disk.name for disk in read_disks(here, read_tree(here, []), ["loop3"])] == ["loop3"]


def test_an_array_shows_its_members_state_and_bitmap(tmp_path: Path) -> None:
    here = machine(tmp_path, FILES)
    (array,) = read_arrays(here, read_tree(here, []))
    assert (array.name, array.level, array.devices, array.working, array.degraded) == (
        "md0",
        "raid1",
        2,
        1,
        True,
    )
    assert (array.chunk_bytes, array.state, array.action) == (None, "active", "recover")
    assert (array.bitmap, array.bitmap_chunk_bytes, array.read_ahead_kib) == ("internal", 64 << 20, 4096)
    assert array.disks == ("sda", "sdb")


def test_a_volume_is_named_even_where_lvs_may_not_run(tmp_path: Path) -> None:
    here, unread = machine(tmp_path, FILES), list[Unread]()
    tree = read_tree(here, unread)
    assert list(tree.chain("dm-0")) == ["dm-0", "md0", "sda", "sdb"]
    volumes = read_volumes(here, tuple(tree.chain("dm-0")), unread)
    assert volumes["dm-0"].name == "my-vg/data"
    assert volumes["dm-0"].segment is None
    assert [(each.what, each.hint) for each in unread] == [("the layout of the logical volumes", "sudo")]


def test_a_container_without_sysfs_says_so(tmp_path: Path) -> None:
    unread: list[Unread] = []
    assert read_tree(machine(tmp_path, {}), unread).names == frozenset()
    assert [each.what for each in unread] == ["the disks and their queues"]


@pytest.mark.parametrize(
    ("mapped", "name"), [("vg0-data", "vg0/data"), ("a--b-c--d", "a-b/c-d"), ("vg-lv--1", "vg/lv-1")]
)
def test_the_dashes_of_a_mapping_are_those_of_its_names_doubled(mapped: str, name: str) -> None:
    assert volume_name(mapped) == name


@pytest.mark.parametrize(
    ("name", "maker", "rotational", "kind"),
    [
        ("sda", "ATA ST4000NM0035", "1", "rotating"),
        ("sda", "ATA Samsung SSD 870", "0", "ssd"),
        ("nvme0n1", "Samsung SSD 990 PRO", "0", "nvme"),
        ("nvme1n1", "Amazon Elastic Block Store", "0", "virtual"),
        ("nvme2n1", "Amazon EC2 NVMe Instance Storage", "0", "nvme"),
        ("vda", "", "1", "virtual"),
        ("sda", "Msft Virtual Disk", "1", "virtual"),
        ("sda", "QEMU QEMU HARDDISK", "1", "virtual"),
        ("sda", "Google PersistentDisk", "0", "virtual"),
        ("sda", "", None, None),
    ],
)
def test_a_disk_is_what_its_name_its_maker_and_its_queue_say(
    name: str, maker: str, rotational: str | None, kind: str | None
) -> None:
    assert kind_of(name, maker, rotational) == kind
