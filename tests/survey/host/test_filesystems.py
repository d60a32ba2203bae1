"""Where a server's files lie."""

from __future__ import annotations

from pathlib import Path

from mydyno.survey.facts import Unread
from mydyno.survey.host.disks import read_tree
from mydyno.survey.host.filesystems import places, read_filesystems
from survey.host.machines import machine

MOUNTS = """\
21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 21 9:0 / /var/lib/mysql rw,noatime - xfs /dev/md0 rw,logbufs=8
31 21 0:40 / /scratch rw - tmpfs tmpfs rw,size=1024k
"""
FILES = {
    "/proc/self/mountinfo": MOUNTS,
    "/sys/block/sda/dev": "8:0\n",
    "/sys/block/sda/sda1/dev": "8:1\n",
    "/sys/block/sda/sda1/partition": "1\n",
    "/sys/block/sdb/dev": "8:16\n",
    "/sys/block/md0/dev": "9:0\n",
    "/sys/block/md0/slaves/sda1/x": "",
    "/sys/block/md0/slaves/sdb/x": "",
}


def test_each_kind_of_files_has_its_place() -> None:
    found = places(
        {
            "datadir": "/var/lib/mysql/",
            "innodb_log_group_home_dir": "./",
            "innodb_undo_directory": "/undo",
            "log_bin": "ON",
            "log_bin_basename": "/binlog/mysql-bin",
            "tmpdir": "/tmp:/scratch",
            "slow_query_log": "ON",
            "slow_query_log_file": "slow.log",
        }
    )
    assert found == {
        "data": "/var/lib/mysql",
        "redo log": "/var/lib/mysql",
        "undo": "/undo",
        "binary log": "/binlog",
        "temporary files": "/tmp",
        "slow log": "/var/lib/mysql",
    }


def test_what_a_server_does_not_write_has_no_place() -> None:
    found = places({"datadir": "/d", "log_bin": "OFF", "log_bin_basename": "/b/x", "slow_query_log": "OFF"})
    assert found == {"data": "/d"}
    assert places({}) == {}


def test_a_mount_is_followed_down_to_its_disks(tmp_path: Path) -> None:
    here, unread = machine(tmp_path, FILES), list[Unread]()
    found = read_filesystems(
        here,
        read_tree(here, unread),
        {"data": "/var/lib/mysql", "temporary files": "/scratch", "slow log": "/var/log"},
        {},
        root="",
        mountinfo_of="/proc/self",
        unread=unread,
    )
    data, scratch, system = found.filesystems
    assert (data.mount_point, data.kind, data.source) == ("/var/lib/mysql", "xfs", "/dev/md0")
    assert data.options == ("rw", "noatime", "logbufs=8")
    assert (data.array, data.disks) == ("md0", ("sda", "sdb"))
    assert (scratch.kind, scratch.disks) == ("tmpfs", ())
    assert (system.mount_point, system.disks, system.array) == ("/", ("sda",), None)
    assert [use.files for use in found.uses] == ["data", "temporary files", "slow log"]
    assert {each.what for each in unread} == {
        f"the free space under {point}" for point in ("/", "/scratch", "/var/lib/mysql")
    }


def test_without_a_list_of_mounts_each_place_is_reported(tmp_path: Path) -> None:
    here, unread = machine(tmp_path, {}), list[Unread]()
    tree = read_tree(here, [])
    found = read_filesystems(
        here, tree, {"data": "/d"}, {}, root="", mountinfo_of="/proc/self", unread=unread
    )
    assert (found.uses, found.filesystems) == ((), ())
    assert [each.what for each in unread] == ["the file system of /d (data)"]
