import pytest

from advisor.builders import GIB, MARIADB, MYSQL_57, MYSQL_84, a_role, host, server
from advisor.rules.judging import finding, judged, sentences
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.apply.finding import Severity
from mydyno.survey.facts import FileSystem, Server, Storage, Use

DAY = 86_400
MIB = 1 << 20


@pytest.mark.parametrize("version", [MARIADB, MYSQL_57, MYSQL_84])
@pytest.mark.parametrize("value", ["0", "1000"])
def test_a_binary_log_that_is_not_synced_is_made_durable_and_the_cost_is_reported(
    version: str, value: str
) -> None:
    found = finding("binary-log-sync", server(version, {"log_bin": "ON", "sync_binlog": value}))
    assert sentences(found) == [f"sync_binlog = 1 (now {value})"]
    assert (found.durability, found.effect.direction, found.severity) == ("raises", "worse", Severity.HIGH)


def test_a_synced_log_is_fine_and_without_one_there_is_nothing_to_sync() -> None:
    synced = server(variables={"log_bin": "ON", "sync_binlog": "1"})
    assert isinstance(judged("binary-log-sync", synced), Fine)
    none = server(variables={"log_bin": "OFF", "sync_binlog": "0"})
    assert isinstance(judged("binary-log-sync", none), NotHere)


def test_without_a_binary_log_nothing_after_the_backup_comes_back() -> None:
    found = finding("binary-log-off", server(variables={"log_bin": "OFF"}))
    assert [change.kind for change in found.changes] == ["by hand"]
    for role in (a_role(replica=True), a_role(galera=True), a_role(managed="Amazon RDS")):
        assert isinstance(judged("binary-log-off", server(variables={"log_bin": "OFF"}, role=role)), NotHere)
    assert isinstance(judged("binary-log-off", server(variables={"log_bin": "ON"})), Fine)


def test_statements_give_way_to_rows() -> None:
    statements = server(MYSQL_57, {"log_bin": "ON", "binlog_format": "STATEMENT"})
    assert sentences(finding("binlog-format", statements)) == ["binlog_format = ROW (now STATEMENT)"]
    for name in ("ROW", "MIXED"):
        good = server(variables={"log_bin": "ON", "binlog_format": name})
        assert isinstance(judged("binlog-format", good), Fine)


def test_rows_are_logged_whole_unless_that_is_much() -> None:
    rows = {"log_bin": "ON", "binlog_format": "ROW", "binlog_row_image": "FULL"}
    much = server(MARIADB, rows, {"Binlog_bytes_written": 600.0 * MIB}, before={"Binlog_bytes_written": 0.0})
    assert sentences(finding("binlog-row-image", much)) == ["binlog_row_image = MINIMAL (now FULL)"]
    assert isinstance(judged("binlog-row-image", server(MARIADB, rows, {"Binlog_bytes_written": 9})), Fine)
    assert isinstance(judged("binlog-row-image", server(MYSQL_84, rows)), Unknown)


def small_disk(free: int) -> Storage:
    return Storage(
        filesystems=(
            FileSystem(
                mount_point="/data", kind="ext4", source="/dev/sda1", options=("rw",), free_bytes=free
            ),
        ),
        uses=(Use(files="binary log", path="/data/binlog", mount_point="/data"),),
    )


def test_logs_that_never_expire_fill_the_disk_on_a_day_that_is_reported() -> None:
    kept = server(
        MARIADB,
        {"log_bin": "ON", "expire_logs_days": "0.000000", "binlog_expire_logs_seconds": "0"},
        {"Binlog_bytes_written": 10.0 * GIB, "Uptime": 10.0 * DAY},
    )
    found = finding("binlog-expiry", kept, host=host(storage=small_disk(5 * GIB)))
    assert found.severity is Severity.CRITICAL
    assert "full in 5 days" in found.title
    roomy = finding("binlog-expiry", kept, host=host(storage=small_disk(500 * GIB)))
    assert roomy.severity is Severity.MEDIUM
    assert "SET GLOBAL binlog_expire_logs_seconds = 1209600;" in str(roomy.changes[0])


def test_the_expiry_is_set_by_the_name_of_the_release_and_a_bound_is_one_too() -> None:
    old = server(MYSQL_57, {"log_bin": "ON", "expire_logs_days": "0"})
    assert "SET GLOBAL expire_logs_days = 14;" in str(finding("binlog-expiry", old).changes[0])
    bounded = server(MARIADB, {"log_bin": "ON", "expire_logs_days": "0", "max_binlog_total_size": str(GIB)})
    assert isinstance(judged("binlog-expiry", bounded), Fine)
    expiring = server(MYSQL_84, {"log_bin": "ON", "binlog_expire_logs_seconds": "2592000"})
    assert isinstance(judged("binlog-expiry", expiring), Fine)


@pytest.mark.parametrize(
    ("version", "delays"),
    [
        (MYSQL_84, {"binlog_group_commit_sync_delay": "5000"}),
        (MARIADB, {"binlog_commit_wait_usec": "5000", "binlog_commit_wait_count": "10"}),
    ],
)
def test_commits_wait_for_others_only_where_there_are_others(version: str, delays: dict[str, str]) -> None:
    few = finding("binlog-commit-delay", server(version, {"log_bin": "ON", **delays}, {"Threads_running": 2}))
    name = next(iter(delays))
    assert sentences(few) == [f"{name} = 0 (now 5000)"]
    many = server(version, {"log_bin": "ON", **delays}, {"Threads_running": 60})
    assert isinstance(judged("binlog-commit-delay", many), Fine)


def test_a_transaction_that_spills_is_reported_with_the_memory_that_more_would_take() -> None:
    spilling = server(
        variables={"log_bin": "ON", "binlog_cache_size": "32768", "max_connections": "100"},
        status={"Binlog_cache_disk_use": 600, "Binlog_cache_use": 1000},
        before={"Binlog_cache_disk_use": 0},
    )
    found = finding("binlog-cache", spilling)
    assert any("100 connections x 128K = 12.5M" in line for line in found.evidence)
    fitting = server(
        variables={"log_bin": "ON", "binlog_cache_size": "32768"},
        status={"Binlog_cache_disk_use": 1, "Binlog_cache_use": 100_000},
    )
    assert isinstance(judged("binlog-cache", fitting), Fine)


def keeping(version: str = MARIADB, days_up: float = 1.0, **variables: str) -> Server:
    """A server that writes 112 GB of binary log a day."""
    return server(
        version,
        {"log_bin": "ON", "expire_logs_days": "0", "binlog_expire_logs_seconds": "0", **variables},
        {"Binlog_bytes_written": 112.0 * GIB * days_up, "Uptime": days_up * DAY},
    )


def test_an_expiry_is_advised_that_has_room_at_the_rate_of_writing() -> None:
    found = finding("binlog-expiry", keeping(), host=host(storage=small_disk(71 * GIB)))
    assert "SET GLOBAL binlog_expire_logs_seconds = 25200;" in str(found.changes[0])
    assert found.title == "Binary logs are never removed: the disk is full in 15 hours"
    assert "71G x 50% / 112G a day = 7 hours" in found.evidence
    days = finding("binlog-expiry", keeping(), host=host(storage=small_disk(800 * GIB)))
    assert "SET GLOBAL binlog_expire_logs_seconds = 259200;" in str(days.changes[0])


def test_an_expiry_in_days_that_has_no_room_says_that_the_disk_is_too_small() -> None:
    old = keeping(MYSQL_57)
    only_days = old.model_copy(
        update={
            "variables": {
                name: found for name, found in old.variables.items() if name != "binlog_expire_logs_seconds"
            }
        }
    )
    found = finding("binlog-expiry", only_days, host=host(storage=small_disk(71 * GIB)))
    assert "SET GLOBAL expire_logs_days = 1;" in str(found.changes[0])
    assert "the disk is too small" in found.recommendation


def test_an_expiry_that_comes_after_the_disk_is_full_is_found_and_following_it_ends_that() -> None:
    disk = host(storage=small_disk(71 * GIB))
    late = keeping(binlog_expire_logs_seconds=str(14 * DAY))
    found = finding("binlog-expiry", late, host=disk)
    assert found.severity is Severity.CRITICAL
    assert "kept for 14 days: the disk is full in 15 hours" in found.title
    assert isinstance(judged("binlog-expiry", keeping(binlog_expire_logs_seconds="25200"), host=disk), Fine)
    settled = keeping(days_up=20, binlog_expire_logs_seconds=str(14 * DAY))
    assert isinstance(judged("binlog-expiry", settled, host=disk), Fine)
