"""File systems and mounts under the server's files."""

import pytest

from advisor.builders import GIB, host, server
from advisor.disks import disk, filesystem, storage, stored
from advisor.rules.judging import finding, judged, sentences, settled
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.apply.finding import Severity
from mydyno.survey.facts import DiskSpeed, FstabEntry, Host, Schema, Server, Storage
from mydyno.survey.facts.fstab import parse_fstab


@pytest.mark.parametrize(
    ("kind", "severity"),
    [
        ("tmpfs", Severity.CRITICAL),
        ("overlay", Severity.CRITICAL),
        ("reiserfs", Severity.HIGH),
        ("ext2", Severity.HIGH),
        ("vfat", Severity.HIGH),
        ("nfs4", Severity.MEDIUM),
        ("ext3", Severity.LOW),
        ("jfs", Severity.LOW),
    ],
)
def test_what_no_database_should_lie_on_is_reported_by_how_bad_it_is(kind: str, severity: Severity) -> None:
    assert finding("filesystem-kind", server(), host=stored(filesystem(kind=kind))).severity is severity


def test_ext4_and_xfs_are_fine_and_a_stranger_is_not_judged() -> None:
    assert judged("filesystem-kind", server(), host=stored()) == Fine(
        "/data (data, redo log, binary log, undo): ext4"
    )
    assert isinstance(judged("filesystem-kind", server(), host=stored(filesystem(kind="nilfs2"))), Unknown)


def test_temporary_files_may_lie_in_memory() -> None:
    places = (filesystem(), filesystem("/tmp", "tmpfs", disks=()))
    machine = stored(*places, uses={"temporary files": "/tmp"})
    assert isinstance(judged("filesystem-kind", server(), host=machine), Fine)


def on_btrfs(attribute: bool | None, options: tuple[str, ...] = ("rw", "relatime")) -> Host:
    plain = storage(filesystem(kind="btrfs", options=options))
    uses = tuple(use.model_copy(update={"no_copy_on_write": attribute}) for use in plain.uses)
    return host(storage=plain.model_copy(update={"uses": uses}))


def test_copy_on_write_below_tables_is_reported_with_the_commands() -> None:
    found = finding("btrfs-copy-on-write", server(), host=on_btrfs(False))
    assert "chattr +C /data/mysql" in found.changes[0].model_dump()["commands"]
    assert isinstance(judged("btrfs-copy-on-write", server(), host=on_btrfs(True)), Fine)
    assert isinstance(judged("btrfs-copy-on-write", server(), host=on_btrfs(None)), Unknown)
    in_place = on_btrfs(False, ("rw", "nodatacow"))
    assert isinstance(judged("btrfs-copy-on-write", server(), host=in_place), Fine)
    assert isinstance(judged("btrfs-copy-on-write", server(), host=stored()), NotHere)


@pytest.mark.parametrize("option", ["relatime", "noatime"])
def test_access_times_that_cost_nothing_are_left_alone(option: str) -> None:
    assert judged("mount-atime", server(), host=stored(filesystem(options=("rw", option)))) == Fine(
        f"/data: {option}"
    )


def test_neither_relatime_nor_noatime_in_force_means_strictatime() -> None:
    strict = stored(filesystem(options=("rw",)))
    found = finding("mount-atime", server(), host=strict)
    assert sentences(found) == ["mount /data with noatime and without strictatime"]
    assert found.effect.size == "small"
    assert settled("mount-atime", server(), host=strict)


@pytest.mark.parametrize("option", ["nobarrier", "barrier=0"])
def test_a_mount_without_barriers_is_critical_and_raised(option: str) -> None:
    without = stored(filesystem(options=("rw", "relatime", option)), disks=(disk(write_cache="write back"),))
    found = finding("mount-barriers", server(), host=without)
    assert found.severity is Severity.CRITICAL
    assert found.durability == "raises"
    assert sentences(found) == [f"mount /data with barrier and without {option}"]
    assert "write cache of sda: write back" in found.evidence
    assert settled("mount-barriers", server(), host=without)
    assert isinstance(judged("mount-barriers", server(), host=stored()), Fine)


def test_a_file_system_that_cannot_be_remounted_so_is_left_to_hands() -> None:
    old = stored(filesystem(kind="xfs", options=("rw", "nobarrier")))
    assert [change.kind for change in finding("mount-barriers", server(), host=old).changes] == ["by hand"]
    discarding = stored(filesystem(kind="xfs", options=("rw", "discard")), trim_timer=True)
    assert [change.kind for change in finding("mount-discard", server(), host=discarding).changes] == [
        "by hand"
    ]


def test_the_modes_of_ext4s_journal_are_reported_by_what_they_cost() -> None:
    doubled = finding("mount-ext4-data", server(), host=stored(filesystem(options=("rw", "data=journal"))))
    assert doubled.effect.size == "large"
    unordered = finding(
        "mount-ext4-data", server(), host=stored(filesystem(options=("rw", "data=writeback")))
    )
    assert unordered.durability == "raises"
    assert isinstance(judged("mount-ext4-data", server(), host=stored()), Fine)
    assert isinstance(judged("mount-ext4-data", server(), host=stored(filesystem(kind="xfs"))), NotHere)


def test_discards_at_each_commit_are_left_to_a_timer() -> None:
    machine = stored(filesystem(options=("rw", "discard")), trim_timer=False)
    found = finding("mount-discard", server(), host=machine)
    assert sentences(found) == [
        "mount /data with nodiscard and without discard",
        "let systemd trim once a week",
    ]
    assert settled("mount-discard", server(), host=machine)


def test_a_disk_to_which_free_blocks_are_never_reported_is_found() -> None:
    able = (disk(discards=True),)
    assert (
        finding("mount-discard", server(), host=stored(disks=able, trim_timer=False)).severity is Severity.LOW
    )
    assert isinstance(judged("mount-discard", server(), host=stored(disks=able, trim_timer=True)), Fine)
    assert isinstance(judged("mount-discard", server(), host=stored(disks=able)), Fine)
    collected = stored(
        filesystem(kind="btrfs", options=("rw", "discard=async")), disks=able, trim_timer=False
    )
    assert isinstance(judged("mount-discard", server(), host=collected), Fine)
    assert isinstance(judged("mount-discard", server(), host=stored(trim_timer=False)), NotHere)


@pytest.mark.parametrize(
    ("free", "severity"),
    [(1, Severity.CRITICAL), (8, Severity.HIGH)],
)
def test_a_disk_that_fills_up_is_reported_by_how_soon(free: int, severity: Severity) -> None:
    machine = stored(filesystem(size_bytes=100 * GIB, free_bytes=free * GIB))
    found = finding("free-space", server(variables={"log_bin": "ON"}), host=machine)
    assert found.severity is severity
    assert found.title == f"/data is nearly full: {free}% free"
    assert "purge binary logs" in found.recommendation


def test_room_is_judged_by_share_and_by_size() -> None:
    plenty = stored(filesystem(size_bytes=4000 * GIB, free_bytes=300 * GIB))
    assert isinstance(judged("free-space", server(), host=plenty), Fine)
    assert isinstance(judged("free-space", server(), host=stored()), Unknown)


def test_files_can_run_out_before_space() -> None:
    def left(free: int) -> Host:
        return stored(filesystem(inodes=1_000_000, free_inodes=free))

    assert finding("free-inodes", server(), host=left(30_000)).severity is Severity.HIGH
    assert finding("free-inodes", server(), host=left(3_000)).severity is Severity.CRITICAL
    assert isinstance(judged("free-inodes", server(), host=left(900_000)), Fine)
    assert isinstance(
        judged("free-inodes", server(), host=stored(filesystem(inodes=0, free_inodes=0))), NotHere
    )


def test_what_root_keeps_of_a_large_volume_is_reported() -> None:
    large = stored(filesystem(size_bytes=1000 * GIB, reserved_bytes=50 * GIB))
    found = finding("reserved-blocks", server(), host=large)
    assert found.title == "50G of the data's disk are reserved for root, which the server is not"
    assert found.effect.says == "about 40G more space"
    small = stored(filesystem(size_bytes=40 * GIB, reserved_bytes=2 * GIB))
    assert isinstance(judged("reserved-blocks", server(), host=small), Fine)
    on_root = stored(filesystem("/", size_bytes=1000 * GIB, reserved_bytes=50 * GIB))
    assert isinstance(judged("reserved-blocks", server(), host=on_root), NotHere)


def fstab(*entries: FstabEntry, place: tuple[str, ...] = ("rw", "relatime")) -> Host:
    return stored(filesystem(options=place), fstab=entries)


GOOD = FstabEntry(line=3, source="/dev/sda1", mount_point="/data", kind="ext4", options=("defaults",))


def test_the_guides_lines_are_named() -> None:
    guide = (
        "UUID=431b1e78-8226-43ec-9460-514a9adf060e /RAID0 xfs defaults,nobootwait, noatime 0 0\n"
        "/dev/sdb1 /mnt auto defaults,nobootwait,comment=cloudconfig 0 2\n"
    )
    found = finding("fstab-faults", server(), host=fstab(*parse_fstab(guide)))
    assert found.severity is Severity.HIGH
    assert found.title == "3 faults in /etc/fstab"
    assert found.evidence[0].startswith("/etc/fstab:1: 'noatime' is where the number for dump belongs")
    assert found.evidence[1] == "/etc/fstab:1: nobootwait is no longer an option: write nofail"
    assert found.evidence[2].startswith("/etc/fstab:2: nobootwait is an option of Upstart's alone")


def test_options_that_are_gone_are_named_with_what_to_write() -> None:
    old = GOOD.model_copy(update={"options": ("defaults", "nobootwait", "")})
    found = finding("fstab-faults", server(), host=fstab(old))
    assert found.evidence == (
        "/etc/fstab:3: nobootwait is no longer an option: write nofail",
        "/etc/fstab:3: an empty option: a comma too many, or a space after one",
    )
    assert isinstance(judged("fstab-faults", server(), host=fstab(GOOD)), Fine)
    assert isinstance(judged("fstab-faults", server(), host=stored()), Unknown)


def test_options_in_force_that_the_next_boot_forgets_are_reported() -> None:
    found = finding("fstab-differs", server(), host=fstab(GOOD, place=("rw", "noatime", "nobarrier")))
    assert found.evidence == (
        "/data: noatime in force, relatime in /etc/fstab:3",
        "/data: no barriers in force, barriers in /etc/fstab:3",
    )
    assert isinstance(judged("fstab-differs", server(), host=fstab(GOOD)), Fine)


def test_a_mount_that_fstab_does_not_know_is_reported() -> None:
    other = GOOD.model_copy(update={"mount_point": "/"})
    found = finding("fstab-differs", server(), host=fstab(other))
    assert found.evidence == ("/data (/dev/sda1): no line in /etc/fstab",)


def syncing(rate: float) -> Server:
    return server(
        status={"Innodb_data_fsyncs": rate * 864_000}, before={"Innodb_data_fsyncs": rate * 863_940}
    )


def test_logs_share_the_arm_of_a_turning_disk() -> None:
    turning = stored(disks=(disk(kind="rotating"),))
    found = finding("redo-apart", syncing(150), host=turning)
    assert found.title == "redo log and binary log share the disk heads of sda with the tables"
    assert isinstance(judged("redo-apart", syncing(2), host=turning), Fine)
    assert isinstance(judged("redo-apart", syncing(150), host=stored()), NotHere)


def test_logs_on_disks_of_their_own_are_fine() -> None:
    apart = stored(
        filesystem(),
        filesystem("/log", disks=("sdb",)),
        disks=(disk(kind="rotating"), disk("sdb", "rotating")),
        uses={"redo log": "/log", "binary log": "/log"},
    )
    assert isinstance(judged("redo-apart", syncing(150), host=apart), Fine)


def test_large_data_on_the_systems_own_disk_is_reported() -> None:
    on_root = stored(filesystem("/", free_bytes=20 * GIB))
    large = server(schema_facts=Schema(tables=10, bytes_by_engine={"InnoDB": 30 * GIB}))
    assert finding("data-on-root", large, host=on_root).severity is Severity.LOW
    small = server(schema_facts=Schema(tables=10, bytes_by_engine={"InnoDB": 5 << 20}))
    assert isinstance(judged("data-on-root", small, host=on_root), Fine)
    assert isinstance(judged("data-on-root", large, host=stored()), Fine)
    inside = stored(filesystem("/", kind="overlay"))
    assert isinstance(judged("data-on-root", large, host=inside), NotHere)


def cached(kind: str, seconds: float | None = None) -> Storage:
    speeds: tuple[DiskSpeed, ...] = ()
    if seconds is not None:
        speeds = (DiskSpeed(mount_point="/data", read_iops=5000, write_iops=3000, sync_seconds=seconds),)
    return storage(disks=(disk(write_cache=kind),), speeds=speeds)


def test_a_volatile_cache_is_reported_by_what_its_flush_costs() -> None:
    commits = server(status={"Handler_commit": 864_000 * 200.0}, before={"Handler_commit": 863_940 * 200.0})
    found = finding("write-cache", commits, host=host(storage=cached("write back", 0.005)))
    assert found.title == "Each commit waits 5ms for the disk's volatile cache"
    assert "at most 200 in a row each second" in found.evidence[1]
    for harmless in (cached("write back", 0.0004), cached("write back"), cached("write through", 0.005)):
        assert isinstance(judged("write-cache", commits, host=host(storage=harmless)), Fine)


def test_nfs_that_gives_up_writes_is_critical() -> None:
    soft = stored(filesystem(kind="nfs4", options=("rw", "relatime", "vers=4.2", "soft", "local_lock=none")))
    found = finding("mount-nfs", server(), host=soft)
    assert found.severity is Severity.CRITICAL
    assert found.evidence == (
        "/data (data, redo log, binary log, undo): soft: a write that is not answered in time fails",
    )
    hard = stored(filesystem(kind="nfs4", options=("rw", "relatime", "vers=4.2", "hard")))
    assert isinstance(judged("mount-nfs", server(), host=hard), Fine)
    assert isinstance(judged("mount-nfs", server(), host=stored()), NotHere)
