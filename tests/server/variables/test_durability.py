import pytest

from mydyno.server.variables.durability import Level, durability

SAFE = {
    "innodb_flush_log_at_trx_commit": "1",
    "innodb_flush_log_at_timeout": "1",
    "innodb_doublewrite": "ON",
    "innodb_flush_method": "O_DIRECT",
    "innodb_force_recovery": "0",
    "log_bin": "OFF",
    "sync_binlog": "0",
}

DURABLE = "durable"
OS_CRASH = "loses up to 1 s on OS crash"
SERVER_CRASH = "loses up to 1 s on server crash"
UNSAFE = "unsafe"

TABLE = [
    ({}, DURABLE),
    ({"innodb_flush_log_at_trx_commit": "2"}, OS_CRASH),
    ({"innodb_flush_log_at_trx_commit": "0"}, SERVER_CRASH),
    ({"innodb_flush_log_at_trx_commit": "3"}, DURABLE),
    ({"log_bin": "ON", "sync_binlog": "1"}, DURABLE),
    ({"log_bin": "ON", "sync_binlog": "0"}, OS_CRASH),
    ({"log_bin": "ON", "sync_binlog": "1000"}, OS_CRASH),
    ({"log_bin": "ON", "sync_binlog": "0", "innodb_flush_log_at_trx_commit": "0"}, SERVER_CRASH),
    ({"innodb_doublewrite": "OFF"}, UNSAFE),
    ({"innodb_doublewrite": "0"}, UNSAFE),
    ({"innodb_doublewrite": "DETECT_ONLY"}, UNSAFE),
    ({"innodb_doublewrite": "DETECT_AND_RECOVER"}, DURABLE),
    ({"innodb_doublewrite": "fast"}, DURABLE),
    ({"innodb_flush_method": "nosync"}, UNSAFE),
    ({"innodb_flush_method": "littlesync"}, UNSAFE),
    ({"innodb_flush_method": "O_DIRECT_NO_FSYNC"}, UNSAFE),
    ({"innodb_flush_method": "fsync"}, DURABLE),
    ({"innodb_force_recovery": "3"}, DURABLE),
    ({"innodb_force_recovery": "6"}, UNSAFE),
    ({"innodb_flush_log_at_trx_commit": "2", "innodb_doublewrite": "OFF"}, UNSAFE),
]


@pytest.mark.parametrize(("changed", "label"), TABLE)
def test_the_label_is_that_of_the_weakest_setting(changed: dict[str, str], label: str) -> None:
    assert durability({**SAFE, **changed}).label == label


def test_every_setting_that_lowers_the_level_is_named() -> None:
    judged = durability({**SAFE, "innodb_flush_log_at_trx_commit": "2", "innodb_doublewrite": "OFF"})
    assert [reason.split("=")[0] for reason in judged.reasons] == [
        "innodb_flush_log_at_trx_commit",
        "innodb_doublewrite",
    ]
    assert durability(SAFE).reasons == ()


def test_a_longer_interval_between_syncs_is_reported() -> None:
    judged = durability({**SAFE, "innodb_flush_log_at_trx_commit": "2", "innodb_flush_log_at_timeout": "10"})
    assert "here 10 s" in judged.reasons[0]


def test_a_server_without_innodb_is_unsafe() -> None:
    assert durability({"log_bin": "OFF"}).level is Level.UNSAFE


def test_settings_that_a_release_does_not_have_do_not_count_against_it() -> None:
    assert durability({"innodb_flush_log_at_trx_commit": "1"}).level is Level.DURABLE


def test_levels_are_ordered_from_unsafe_to_durable() -> None:
    assert sorted(Level, reverse=True)[0] is Level.DURABLE
    assert [level.label for level in sorted(Level)] == [UNSAFE, SERVER_CRASH, OS_CRASH, DURABLE]


def test_a_volume_whose_fsync_stops_at_the_disks_cache_makes_every_setting_unsafe() -> None:
    judged = durability(SAFE, unflushed=["data"])
    assert judged.level is Level.UNSAFE
    assert "the volume data" in judged.reasons[0]
