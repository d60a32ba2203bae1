"""Schedulers, readahead and queues of the disks under the server's files."""

import pytest

from advisor.builders import MARIADB, server
from advisor.disks import array, arrayed, disk, filesystem, stored
from advisor.rules.judging import finding, judged, sentences, settled
from mydyno.advisor.rule import Fine, Judgement, NotHere, Unknown
from mydyno.apply.finding import Severity
from mydyno.survey.facts import Host

NEW = ("none", "mq-deadline", "kyber", "bfq")
OLD = ("noop", "deadline", "cfq")


def on(kind: str | None, scheduler: str | None, offered: tuple[str, ...] = NEW) -> Host:
    return stored(disks=(disk(kind=kind, scheduler=scheduler, schedulers=offered),))


@pytest.mark.parametrize(
    ("kind", "scheduler", "offered", "advised"),
    [
        ("nvme", "mq-deadline", NEW, "none"),
        ("nvme", "bfq", NEW, "none"),
        ("ssd", "bfq", NEW, "none"),
        ("ssd", "cfq", OLD, "noop"),
        ("rotating", "none", NEW, "mq-deadline"),
        ("rotating", "kyber", NEW, "mq-deadline"),
        ("rotating", "noop", OLD, "deadline"),
        ("virtual", "bfq", NEW, "none"),
        ("virtual", "cfq", OLD, "noop"),
    ],
)
def test_what_does_not_suit_the_disk_is_replaced(
    kind: str, scheduler: str, offered: tuple[str, ...], advised: str
) -> None:
    rule, machine = f"scheduler-{kind}", on(kind, scheduler, offered)
    found = finding(rule, server(), host=machine)
    assert sentences(found) == [f"scheduler of sda = {advised} (now {scheduler})"]
    assert settled(rule, server(), host=machine)


@pytest.mark.parametrize(
    ("kind", "scheduler"),
    [
        ("nvme", "none"),
        ("nvme", "kyber"),
        ("ssd", "none"),
        ("ssd", "mq-deadline"),
        ("rotating", "mq-deadline"),
        ("rotating", "bfq"),
        ("virtual", "none"),
        ("virtual", "mq-deadline"),
    ],
)
def test_what_suits_is_left_alone(kind: str, scheduler: str) -> None:
    assert judged(f"scheduler-{kind}", server(), host=on(kind, scheduler)) == Fine(f"sda: {scheduler}")


def test_each_kind_of_disk_has_its_own_rule() -> None:
    assert isinstance(judged("scheduler-nvme", server(), host=on("rotating", "none")), NotHere)
    assert isinstance(judged("scheduler-rotating", server(), host=on("rotating", None)), Unknown)


def test_a_scheduler_that_the_disk_does_not_offer_is_not_advised() -> None:
    assert isinstance(judged("scheduler-nvme", server(), host=on("nvme", "bfq", ("bfq",))), Fine)


def test_only_the_disks_under_the_server_count() -> None:
    disks = (
        disk("sda", "ssd", scheduler="none", schedulers=NEW),
        disk("sdb", "ssd", scheduler="bfq", schedulers=NEW),
    )
    assert isinstance(judged("scheduler-ssd", server(), host=stored(disks=disks)), Fine)


def far_ahead(variables: dict[str, str], kib: int = 8192) -> Judgement:
    return judged("readahead", server(MARIADB, variables), host=stored(disks=(disk(read_ahead_kib=kib),)))


def test_readahead_matters_only_where_tables_go_through_the_page_cache() -> None:
    assert isinstance(far_ahead({"innodb_flush_method": "O_DIRECT"}), Fine)
    assert isinstance(far_ahead({"innodb_data_file_buffering": "OFF", "innodb_flush_method": "fsync"}), Fine)
    assert isinstance(far_ahead({"innodb_flush_method": "fsync"}, kib=1024), Fine)
    assert isinstance(far_ahead({}), Unknown)


def test_a_readahead_of_megabytes_goes_back_to_the_default() -> None:
    machine = stored(disks=(disk(read_ahead_kib=8192),))
    through = server(MARIADB, {"innodb_flush_method": "fsync"})
    found = finding("readahead", through, host=machine)
    assert sentences(found) == ["read_ahead_kb of sda = 128 (now 8192)"]
    assert found.title == "The kernel's readahead under the tables is 8192 KiB, 64 times its default"
    assert "8192 KiB / 16 KiB = 512 pages at once" in found.evidence[1]
    assert settled("readahead", through, host=machine)


def test_an_arrays_own_readahead_counts_not_its_disks() -> None:
    through = server(MARIADB, {"innodb_flush_method": "fsync"})
    found = finding("readahead", through, host=arrayed(array("raid10", read_ahead_kib=4096)))
    assert sentences(found) == ["read_ahead_kb of md0 = 128 (now 4096)"]


def test_a_queue_too_short_to_be_sorted_becomes_longer() -> None:
    short = stored(disks=(disk(kind="rotating", scheduler="mq-deadline", requests=16),))
    found = finding("queue-requests", server(), host=short)
    assert sentences(found) == ["nr_requests of sda = 256 (now 16)"]
    assert found.severity is Severity.LOW
    assert settled("queue-requests", server(), host=short)
    unsorted = stored(disks=(disk(scheduler="none", requests=16),))
    assert isinstance(judged("queue-requests", server(), host=unsorted), NotHere)
    assert isinstance(judged("queue-requests", server(), host=stored(filesystem())), Unknown)
