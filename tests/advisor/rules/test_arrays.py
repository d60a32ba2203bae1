"""Software arrays and logical volumes under the server's files."""

import pytest

from advisor.builders import GIB, a_role, host, server
from advisor.disks import array, arrayed, disk, filesystem, storage, stored
from advisor.rules.judging import finding, judged, sentences, settled
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.apply.change import ByHand
from mydyno.apply.finding import Severity
from mydyno.survey.facts import Host, LogicalVolume, Server

MIB = 1 << 20


def busy(reads: float, writes: float) -> Server:
    """A server with these reads and writes of InnoDB each second."""
    after = {"Innodb_data_reads": reads * 864_000, "Innodb_data_writes": writes * 864_000}
    before = {"Innodb_data_reads": reads * 863_940, "Innodb_data_writes": writes * 863_940}
    return server(status=after, before=before)


def test_parity_is_dear_for_a_load_that_writes_and_the_sum_is_shown() -> None:
    found = finding("raid-level", busy(100, 300), host=arrayed(array("raid5")))
    assert found.title == "raid5 makes 1.9 times the disk I/O of raid10 under this load"
    assert (
        "100 reads/s + 4 x 300 writes/s = 1300 disk I/Os/s; raid10: 100 + 2 x 300 = 700" in found.evidence[0]
    )
    assert isinstance(found.changes[0], ByHand)
    assert finding("raid-level", busy(100, 300), host=arrayed(array("raid6"))).title.startswith(
        "raid6 makes 2.7"
    )


def test_parity_is_fine_where_little_is_written() -> None:
    assert isinstance(judged("raid-level", busy(1000, 30), host=arrayed(array("raid5"))), Fine)
    assert isinstance(judged("raid-level", busy(0, 0), host=arrayed(array("raid5"))), Fine)
    assert isinstance(judged("raid-level", busy(0, 900), host=arrayed(array("raid10"))), Fine)
    assert isinstance(judged("raid-level", server(), host=arrayed(array("raid5"))), Unknown)
    assert isinstance(judged("raid-level", busy(0, 900), host=stored()), NotHere)


def test_raid_0_loses_everything_with_one_disk() -> None:
    found = finding("raid-redundancy", server(), host=arrayed(array("raid0")))
    assert found.severity is Severity.HIGH
    assert found.title == "One failing disk takes the data with it: raid0 over 4 disks"
    replicated = finding("raid-redundancy", server(role=a_role(source=True)), host=arrayed(array("raid0")))
    assert replicated.severity is Severity.LOW
    assert "replicas" in replicated.evidence[1]


def test_mirrors_are_redundant_and_virtual_disks_are_the_hypervisors_business() -> None:
    assert isinstance(judged("raid-redundancy", server(), host=arrayed(array("raid1", 2))), Fine)
    virtual = stored(disks=(disk(kind="virtual"),))
    assert isinstance(judged("raid-redundancy", server(), host=virtual), NotHere)
    assert finding("raid-redundancy", server(), host=stored()).severity is Severity.LOW


def test_a_degraded_array_is_critical() -> None:
    found = finding("raid-degraded", server(), host=arrayed(array("raid5", 4, working=3)))
    assert found.severity is Severity.CRITICAL
    assert found.evidence[0] == "md0 (raid5): 3 of 4 disks work"
    rebuilding = arrayed(array("raid5", 4, working=3, action="recover"))
    assert finding("raid-degraded", server(), host=rebuilding).recommendation.startswith("let the running")
    assert isinstance(judged("raid-degraded", server(), host=arrayed(array("raid5"))), Fine)


def test_an_array_that_copies_itself_spoils_what_is_measured() -> None:
    checking = finding("raid-syncing", server(), host=arrayed(array("raid1", 2, action="check")))
    assert checking.severity is Severity.LOW
    rebuilding = finding("raid-syncing", server(), host=arrayed(array("raid1", 2, action="recover")))
    assert rebuilding.severity is Severity.MEDIUM
    assert isinstance(judged("raid-syncing", server(), host=arrayed(array("raid1", 2, action="idle"))), Fine)
    assert isinstance(judged("raid-syncing", server(), host=arrayed(array("raid1", 2))), Unknown)


@pytest.mark.parametrize(
    ("chunk", "severity", "says"),
    [
        (4 << 10, Severity.MEDIUM, "meets 4 chunk(s)"),
        (32 << 10, Severity.LOW, "up to 50% of the pages cross a border"),
        (72 << 10, Severity.LOW, "up to 22% of the pages"),
    ],
)
def test_small_chunks_split_pages(chunk: int, severity: Severity, says: str) -> None:
    found = finding("raid-chunk", server(), host=arrayed(array("raid0", chunk_bytes=chunk)))
    assert found.severity is severity
    assert says in found.evidence[1]


def test_the_default_chunk_holds_pages_whole_and_a_mirror_has_none() -> None:
    assert isinstance(
        judged("raid-chunk", server(), host=arrayed(array("raid10", chunk_bytes=512 << 10))), Fine
    )
    assert isinstance(judged("raid-chunk", server(), host=arrayed(array("raid1", 2))), NotHere)


def test_a_fine_bitmap_and_none_at_all_are_both_reported() -> None:
    fine_grained = array("raid5", bitmap="internal", bitmap_chunk_bytes=4 * MIB)
    found = finding("raid-bitmap", server(), host=arrayed(fine_grained))
    assert "set 64 times less often" in found.evidence[1]
    missing = finding("raid-bitmap", server(), host=arrayed(array("raid5", bitmap="none")))
    assert missing.title == "md0 has no bitmap: after a crash all of it is resynced"
    usual = array("raid5", bitmap="internal", bitmap_chunk_bytes=64 * MIB)
    assert isinstance(judged("raid-bitmap", server(), host=arrayed(usual)), Fine)
    assert isinstance(judged("raid-bitmap", server(), host=arrayed(array("raid0"))), NotHere)


def test_few_stripes_for_many_writes_become_more() -> None:
    machine = arrayed(array("raid6", stripe_cache_size=256))
    found = finding("raid-stripe-cache", busy(10, 500), host=machine)
    assert sentences(found) == ["stripe_cache_size of md0 = 4096 (now 256)"]
    assert found.evidence[1] == "memory of 4096: 4K x 4096 x 4 disks = 64M"
    assert settled("raid-stripe-cache", busy(10, 500), host=machine)


def test_the_stripe_cache_is_left_where_it_would_not_pay() -> None:
    machine = arrayed(array("raid5", stripe_cache_size=256))
    assert isinstance(judged("raid-stripe-cache", busy(10, 1), host=machine), Fine)
    small = arrayed(array("raid5", stripe_cache_size=256), memory=2 * GIB)
    assert isinstance(judged("raid-stripe-cache", busy(10, 500), host=small), Fine)
    assert isinstance(judged("raid-stripe-cache", busy(10, 500), host=arrayed(array("raid10"))), NotHere)


def on_volume(volume: LogicalVolume, disks: tuple[str, ...] = ("sda",)) -> Host:
    place = filesystem(volume=volume.name, disks=disks)
    return host(storage=storage(place, disks=tuple(map(disk, disks)), volumes=(volume,)))


def test_snapshots_make_first_writes_dearer() -> None:
    found = finding("lvm-snapshot", server(), host=on_volume(LogicalVolume(name="vg0/data", snapshots=2)))
    assert found.title == "2 snapshot(s) of vg0/data make first writes 5 I/Os instead of 1"
    for volume in (
        LogicalVolume(name="vg0/data", snapshots=0),
        LogicalVolume(name="vg0/data", snapshots=3, segment="thin"),
    ):
        assert isinstance(judged("lvm-snapshot", server(), host=on_volume(volume)), Fine)
    assert isinstance(judged("lvm-snapshot", server(), host=stored()), NotHere)


def test_a_linear_volume_over_several_disks_uses_one_at_a_time() -> None:
    linear = LogicalVolume(name="vg0/data", segment="linear")
    found = finding("lvm-stripes", server(), host=on_volume(linear, ("sda", "sdb")))
    assert found.title == "vg0/data fills 2 disks one after the other"
    assert isinstance(judged("lvm-stripes", server(), host=on_volume(linear)), Fine)
    striped = LogicalVolume(name="vg0/data", segment="striped", stripes=2, stripe_bytes=64 << 10)
    result = judged("lvm-stripes", server(), host=on_volume(striped, ("sda", "sdb")))
    assert result == Fine("vg0/data: striped, 2 stripes of 64K, 2 disk(s)")


def striped(*options: str, kind: str = "ext4") -> Host:
    place = filesystem(kind=kind, options=("rw", "relatime", *options), array="md0", source="/dev/md0")
    return host(storage=storage(place, arrays=(array("raid6", 6, chunk_bytes=512 << 10),)))


def test_a_file_system_that_does_not_know_its_stripes_gets_them() -> None:
    found = finding("filesystem-stripe", server(), host=striped())
    assert "512K chunk x 4 data disks = 2M a stripe" in found.evidence[0]
    assert found.changes[0].model_dump()["commands"] == ("tune2fs -E stride=128,stripe_width=512 /dev/md0",)
    far = finding("filesystem-stripe", server(), host=striped(kind="xfs"))
    assert "sunit=1024,swidth=4096" in far.changes[0].sentence()
    assert isinstance(judged("filesystem-stripe", server(), host=striped("stripe=512")), Fine)
    knows = striped("sunit=1024", "swidth=4096", kind="xfs")
    assert isinstance(judged("filesystem-stripe", server(), host=knows), Fine)
    assert isinstance(judged("filesystem-stripe", server(), host=arrayed(array("raid10"))), NotHere)
