"""Rules on how InnoDB reads and writes its files."""

import pytest

from advisor.builders import GIB, MARIADB, MYSQL_57, MYSQL_84, host, server, system
from advisor.rules.judging import found, sentences
from mydyno.advisor import rule_of
from mydyno.advisor.rule import Fine, Judgement, NotHere, Rule, Unknown
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Severity
from mydyno.survey.facts import (
    Disk,
    DiskSpeed,
    FileSystem,
    Host,
    Innodb,
    Origin,
    Schema,
    Storage,
    Use,
    Variable,
)

MARIADB_105 = "mariadbd  Ver 10.5.29-MariaDB for debian-linux-gnu on x86_64"
MARIADB_118 = "mariadbd  Ver 11.8.6-MariaDB for Linux on x86_64"
CAPACITY = {"innodb_io_capacity": "200", "innodb_io_capacity_max": "2000"}


def on_disk(kind: str | None, file_system: str = "ext4", write_iops: float | None = None) -> Host:
    data = FileSystem(mount_point="/data", kind=file_system, source="/dev/sda", options=(), disks=("sda",))
    speed = (
        () if write_iops is None else (DiskSpeed(mount_point="/data", read_iops=9e9, write_iops=write_iops),)
    )
    disk = Disk.model_validate({"name": "sda", "kind": kind})
    uses = (Use(files="data", path="/data", mount_point="/data"),)
    return host(storage=Storage(disks=(disk,), filesystems=(data,), uses=uses, speeds=speed))


def judged(rule: Rule, version: str = MARIADB, **variables: str | Variable) -> Judgement:
    return rule.judge(system(server(version, variables)), Targets())


def with_disk(rule: Rule, the_host: Host, variables: dict[str, str], version: str = MYSQL_57) -> Judgement:
    return rule.judge(system(server(version, variables), the_host), Targets())


def test_the_pace_of_flushing_is_half_of_what_the_disk_was_measured_to_write() -> None:
    finding = found(with_disk(rule_of("io-capacity"), on_disk("virtual", write_iops=7_932), CAPACITY))
    assert sentences(finding) == [
        "innodb_io_capacity_max = 8000 (now 2000)",
        "innodb_io_capacity = 4000 (now 200)",
    ]
    assert "half of 7,932 measured random writes/s" in finding.evidence


def test_lowering_it_lowers_the_maximum_last() -> None:
    fast = {"innodb_io_capacity": "10000", "innodb_io_capacity_max": "20000"}
    finding = found(with_disk(rule_of("io-capacity"), on_disk("rotating"), fast, MYSQL_84))
    assert sentences(finding) == [
        "innodb_io_capacity = 200 (now 10000)",
        "innodb_io_capacity_max = 400 (now 20000)",
    ]


def test_without_a_measurement_the_kind_of_disk_gives_a_modest_number_and_nothing_is_lowered() -> None:
    assert sentences(with_disk(rule_of("io-capacity"), on_disk("ssd"), CAPACITY))[-1].startswith(
        "innodb_io_capacity = 1000"
    )
    fast = {"innodb_io_capacity": "10000", "innodb_io_capacity_max": "20000"}
    assert isinstance(with_disk(rule_of("io-capacity"), on_disk("nvme"), fast), Fine)
    assert isinstance(with_disk(rule_of("io-capacity"), on_disk("virtual"), CAPACITY), Unknown)
    assert isinstance(with_disk(rule_of("io-capacity"), on_disk(None), CAPACITY), Unknown)


@pytest.mark.parametrize("kind", ["virtual", None])
def test_a_hypervisors_disk_whose_requests_take_no_millisecond_is_no_slow_one(kind: str | None) -> None:
    def judged(write_seconds: float, now: str) -> Judgement:
        there = on_disk(kind)
        used = {"reads": 50_000, "read_seconds": 15.0, "writes": 50_000, "write_seconds": write_seconds}
        disks = tuple(each.model_copy(update=used) for each in there.storage.disks)
        storage = there.storage.model_copy(update={"disks": disks})
        slow = {**CAPACITY, "innodb_io_capacity": now}
        return with_disk(rule_of("io-capacity"), there.model_copy(update={"storage": storage}), slow)

    assert sentences(judged(10.0, "100"))[-1] == "innodb_io_capacity = 1000 (now 100)"
    assert sentences(judged(400.0, "100"))[-1] == "innodb_io_capacity = 200 (now 100)"
    assert isinstance(judged(400.0, "200"), Unknown)


def test_a_pace_below_every_default_is_found_on_disks_of_which_nothing_is_known() -> None:
    slow = {**CAPACITY, "innodb_io_capacity": "100"}
    assert sentences(with_disk(rule_of("io-capacity"), on_disk(None), slow))[-1] == (
        "innodb_io_capacity = 200 (now 100)"
    )


def test_a_pace_within_half_and_double_of_the_measurement_is_fine() -> None:
    for now in ("2100", "7900"):
        variables = {**CAPACITY, "innodb_io_capacity": now}
        assert isinstance(with_disk(rule_of("io-capacity"), on_disk("ssd", write_iops=8000), variables), Fine)


LARGE = Targets(buffer_pool_bytes=12 * GIB)


def opened_by(version: str, value: str, targets: Targets = LARGE, file_system: str = "ext4") -> Judgement:
    large = Schema(tables=9, bytes_by_engine={"InnoDB": 500 * GIB})
    variables = {"innodb_flush_method": value, "innodb_buffer_pool_size": str(GIB)}
    the_server = server(version, variables, schema_facts=large)
    return rule_of("flush-method").judge(system(the_server, on_disk("ssd", file_system)), targets)


@pytest.mark.parametrize("value", ["", "fsync", "O_DSYNC"])
def test_a_large_pool_needs_no_second_copy_in_the_file_systems_cache(value: str) -> None:
    finding = found(opened_by(MYSQL_57, value))
    assert [(change.target, change.sentence()) for change in finding.changes] == [
        ("variable innodb_flush_method", f"innodb_flush_method = O_DIRECT (now {value})")
    ]
    assert finding.durability == "keeps"


def test_mariadb_11_calls_it_otherwise() -> None:
    variables = {
        "innodb_flush_method": "fsync",
        "innodb_data_file_buffering": "ON",
        "innodb_buffer_pool_size": str(GIB),
    }
    the_system = system(server(MARIADB_118, variables), on_disk("ssd"))
    assert sentences(rule_of("flush-method").judge(the_system, LARGE)) == [
        "innodb_data_file_buffering = OFF (now ON)",
        "innodb_flush_method = O_DIRECT (now fsync)",
    ]


def test_mariadb_11_still_decides_by_the_old_name_at_its_start() -> None:
    variables = {"innodb_flush_method": "O_DIRECT_NO_FSYNC", "innodb_data_file_buffering": "OFF"}
    finding = found(rule_of("flush-method").judge(system(server(MARIADB_118, variables)), Targets()))
    assert sentences(finding) == ["innodb_flush_method = O_DIRECT (now O_DIRECT_NO_FSYNC)"]
    assert finding.durability == "raises"


def test_a_small_pool_keeps_the_cache_and_so_does_a_file_system_without_o_direct() -> None:
    assert isinstance(opened_by(MYSQL_57, "fsync", Targets(buffer_pool_bytes=2 * GIB)), Fine)
    assert isinstance(opened_by(MYSQL_57, "fsync", file_system="tmpfs"), NotHere)
    assert isinstance(opened_by(MYSQL_57, "O_DIRECT"), Fine)


def test_syncs_that_are_left_out_are_restored_whatever_the_pool() -> None:
    small = Targets(buffer_pool_bytes=GIB)
    unsafe, less_safe = (
        found(opened_by(MYSQL_57, value, small)) for value in ("nosync", "O_DIRECT_NO_FSYNC")
    )
    assert (unsafe.severity, less_safe.severity) == (Severity.CRITICAL, Severity.HIGH)
    assert unsafe.durability == less_safe.durability == "raises"


def test_neighbours_are_written_on_rotating_disks_alone() -> None:
    def judged(kind: str, value: str, version: str = MYSQL_57) -> Judgement:
        return with_disk(
            rule_of("flush-neighbors"), on_disk(kind), {"innodb_flush_neighbors": value}, version
        )

    assert sentences(judged("nvme", "1")) == ["innodb_flush_neighbors = 0 (now 1)"]
    assert sentences(judged("rotating", "0", MYSQL_84)) == ["innodb_flush_neighbors = 1 (now 0)"]
    assert isinstance(judged("ssd", "1", MARIADB), Fine)
    assert isinstance(judged("rotating", "2"), Fine)
    assert isinstance(judged("virtual", "1"), Unknown)


def test_io_threads_follow_the_requests_that_queue() -> None:
    def judged(pending: float, threads: str = "4") -> Judgement:
        variables = {"innodb_read_io_threads": threads, "innodb_write_io_threads": "4"}
        status = {"Innodb_data_pending_reads": pending, "Innodb_data_pending_writes": 0.0}
        return rule_of("io-threads").judge(system(server(variables=variables, status=status)), Targets())

    assert sentences(judged(600)) == ["innodb_read_io_threads = 10 (now 4)"]
    assert sentences(judged(0, "1")) == ["innodb_read_io_threads = 4 (now 1)"]
    assert isinstance(judged(200), Fine)
    assert isinstance(judged(600, "16"), Fine)


def test_every_part_of_the_pool_has_a_cleaner() -> None:
    def judged(version: str, cleaners: str) -> Judgement:
        variables = {
            "innodb_page_cleaners": cleaners,
            "innodb_buffer_pool_instances": "8",
            "innodb_buffer_pool_size": str(16 * GIB),
        }
        return rule_of("page-cleaners").judge(system(server(version, variables)), Targets())

    assert sentences(judged(MYSQL_57, "4")) == ["innodb_page_cleaners = 8 (now 4)"]
    assert isinstance(judged(MYSQL_57, "8"), Fine)
    assert isinstance(judged(MARIADB_105, "1"), NotHere)


def test_purge_gets_threads_where_the_history_is_long() -> None:
    def judged(history: float, threads: str = "1", cpus: int = 8) -> Judgement:
        behind = server(
            MYSQL_84, {"innodb_purge_threads": threads}, innodb=Innodb(history_list_length=int(history))
        )
        return rule_of("purge-threads").judge(system(behind, host(cpus=cpus)), Targets())

    assert sentences(judged(2e6)) == ["innodb_purge_threads = 4 (now 1)"]
    assert isinstance(judged(2e6, "4"), Fine)
    assert isinstance(judged(2e6, cpus=2), Fine)
    assert isinstance(judged(100), Fine)


def test_a_forgotten_transaction_is_looked_for_by_hand() -> None:
    behind = system(server(status={"Innodb_history_list_length": 20_000_000}))
    finding = found(rule_of("purge-lag").judge(behind, Targets()))
    assert (finding.severity, finding.changes[0].kind) == (Severity.HIGH, "by hand")
    assert isinstance(rule_of("purge-lag").judge(system(), Targets()), Unknown)


@pytest.mark.parametrize(
    ("version", "now", "default"), [(MYSQL_57, "10", "75"), (MYSQL_84, "5.0", "90"), (MARIADB, "99.9", "90")]
)
def test_the_bound_of_dirty_pages_is_the_releases_own(version: str, now: str, default: str) -> None:
    assert sentences(judged(rule_of("dirty-pages"), version, innodb_max_dirty_pages_pct=now)) == [
        f"innodb_max_dirty_pages_pct = {default} (now {now})"
    ]
    assert isinstance(judged(rule_of("dirty-pages"), version, innodb_max_dirty_pages_pct=default), Fine)


def test_the_cleaner_looks_neither_too_far_nor_too_short() -> None:
    def judged(depth: str, waits: float) -> Judgement:
        name = "Innodb_buffer_pool_wait_free"
        cleaning = server(MYSQL_57, {"innodb_lru_scan_depth": depth}, status={name: waits}, before={name: 0})
        return rule_of("lru-scan-depth").judge(system(cleaning), Targets())

    assert sentences(judged("100", 600)) == ["innodb_lru_scan_depth = 1024 (now 100)"]
    assert sentences(judged("16384", 0)) == ["innodb_lru_scan_depth = 1024 (now 16384)"]
    assert isinstance(judged("100", 0), Fine)
    assert isinstance(judged("16384", 600), Fine)


def test_mariadbs_change_buffer_is_switched_off_and_mysqls_let_be() -> None:
    finding = found(judged(rule_of("change-buffering"), MARIADB_105, innodb_change_buffering="all"))
    assert sentences(finding) == ["innodb_change_buffering = none (now all)"]
    assert finding.severity is Severity.HIGH
    assert isinstance(judged(rule_of("change-buffering"), innodb_change_buffering="none"), Fine)
    assert isinstance(judged(rule_of("change-buffering"), MARIADB_118, innodb_io_capacity="200"), NotHere)
    assert isinstance(judged(rule_of("change-buffering"), MYSQL_57, innodb_change_buffering="all"), NotHere)


def test_the_pace_of_flushing_follows_the_changes() -> None:
    assert sentences(judged(rule_of("adaptive-flushing"), innodb_adaptive_flushing="OFF")) == [
        "innodb_adaptive_flushing = ON (now OFF)"
    ]
    assert isinstance(judged(rule_of("adaptive-flushing"), innodb_adaptive_flushing="ON"), Fine)


def test_read_ahead_that_is_not_used_is_switched_off() -> None:
    def judged(evicted: float) -> Judgement:
        reading = server(
            variables={"innodb_random_read_ahead": "ON"},
            status={
                "Innodb_buffer_pool_read_ahead": 2000,
                "Innodb_buffer_pool_read_ahead_rnd": 8000,
                "Innodb_buffer_pool_read_ahead_evicted": evicted,
            },
        )
        return rule_of("random-read-ahead").judge(system(reading), Targets())

    assert "50%" in found(judged(5000)).title
    assert isinstance(judged(100), Fine)


def test_asynchronous_io_that_was_switched_off_is_switched_on_and_a_refusal_is_looked_into() -> None:
    def judged(origin: Origin | None) -> Judgement:
        off = Variable(value="OFF", dynamic=False, origin=origin)
        return rule_of("native-aio").judge(
            system(server(variables={"innodb_use_native_aio": off})), Targets()
        )

    assert sentences(judged(Origin(source="file", file="/etc/my.cnf"))) == [
        "innodb_use_native_aio = ON (now OFF)"
    ]
    assert found(judged(None)).changes[0].kind == "by hand"
