import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.core.server_variables import Setting
from mydyno.server.variables.settings import SettingDifference, number, settings_difference

SAME: list[tuple[str, Setting, str]] = [
    ("innodb_buffer_pool_size", "256M", "268435456"),
    ("innodb_buffer_pool_size", 268435456, "268435456"),
    ("max_connections", 450, "450"),
    ("max_connections", "450", "450"),
    ("tmp_table_size", "1.5K", "1536"),
    ("innodb_file_per_table", True, "ON"),
    ("innodb_file_per_table", "on", "ON"),
    ("innodb_file_per_table", 1, "ON"),
    ("innodb_doublewrite", False, "OFF"),
    ("innodb_doublewrite", "0", "OFF"),
    ("low_priority_updates", "false", "OFF"),
    ("innodb_flush_log_at_trx_commit", True, "1"),
    ("innodb_flush_method", "o_direct", "O_DIRECT"),
    ("long_query_time", 0.5, "0.500000"),
    ("long_query_time", "2", "2.000000"),
    ("innodb_max_dirty_pages_pct", 90, "90.000000"),
    ("long_query_time", 0.1234567, "0.123457"),
    ("lc_messages", "en_us", "en_US"),
    ("character_sets_dir", "/usr/share/mysql/charsets", "/usr/share/mysql/charsets/"),
    ("slow_query_log_file", "logs/slow.log", "/private/data/logs/slow.log"),
    ("sql_mode", "ansi_quotes, STRICT_ALL_TABLES", "STRICT_ALL_TABLES,ANSI_QUOTES"),
    ("sql_mode", "ANSI", "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI"),
    ("sql_mode", "", ""),
    ("optimizer_switch", "mrr=on", "index_merge=on,mrr=on,mrr_cost_based=off"),
    ("log_slow_verbosity", "query_plan,explain", "explain,query_plan"),
    ("log_bin", "mysql-bin", "ON"),
    ("log_bin", False, "OFF"),
    ("log_bin", True, "ON"),
]

DIFFERENT: list[tuple[str, Setting, str]] = [
    ("innodb_buffer_pool_size", "256M", "134217728"),
    ("max_connections", 450, "214"),
    ("innodb_doublewrite", True, "OFF"),
    ("innodb_flush_log_at_trx_commit", 2, "1"),
    ("innodb_flush_log_at_trx_commit", True, "2"),
    ("innodb_flush_method", "fsync", "O_DIRECT"),
    ("long_query_time", 0.5, "0.600000"),
    ("sql_mode", "ANSI_QUOTES", "ANSI_QUOTES,STRICT_ALL_TABLES"),
    ("sql_mode", "", "STRICT_ALL_TABLES"),
    ("optimizer_switch", "mrr=on", "index_merge=on,mrr=off"),
    ("slow_query_log_file", "slow.log", "/private/data/other-slow.log"),
    ("slow_query_log_file", "slow.log", "/private/data/xslow.log"),
    ("log_bin", "mysql-bin", "OFF"),
    ("log_bin", False, "ON"),
    ("time_format", "a", ""),
]


@pytest.mark.parametrize(("name", "asked", "shown"), SAME)
def test_the_same_meaning_is_not_a_difference(name: str, asked: Setting, shown: str) -> None:
    assert settings_difference({name: asked}, {name: shown}) == ()


@pytest.mark.parametrize(("name", "asked", "shown"), DIFFERENT)
def test_another_meaning_is_a_difference(name: str, asked: Setting, shown: str) -> None:
    (difference,) = settings_difference({name: asked}, {name: shown})
    assert (difference.name, difference.in_force) == (name, shown)


def test_a_setting_that_the_server_does_not_show_cannot_be_confirmed() -> None:
    (difference,) = settings_difference({"innodb_status_file": True}, {"max_connections": "151"})
    assert str(difference) == (
        "innodb_status_file: configured ON, not shown by the server "
        "(it cannot be confirmed on a running server)"
    )


def test_options_shown_under_another_name_are_found() -> None:
    asked = {"transaction_isolation": "READ-COMMITTED", "default_time_zone": "+00:00"}
    assert settings_difference(asked, {"tx_isolation": "READ-COMMITTED", "time_zone": "+00:00"}) == ()
    shown = {"transaction_isolation": "REPEATABLE-READ", "time_zone": "SYSTEM"}
    assert [difference.name for difference in settings_difference(asked, shown)] == list(asked)
    assert settings_difference({"external_locking": False}, {"skip_external_locking": "ON"}) == ()
    assert settings_difference({"external_locking": True}, {"skip_external_locking": "ON"}) != ()


def why(name: str, asked: Setting, in_force: dict[str, str]) -> str | None:
    (difference,) = settings_difference({name: asked}, in_force)
    return difference.why


def test_rounding_is_a_difference_that_is_explained_when_it_accounts_for_it_exactly() -> None:
    chunks = {"innodb_buffer_pool_chunk_size": "134217728", "innodb_buffer_pool_instances": "8"}
    rounded = {"innodb_buffer_pool_size": "2147483648", **chunks}
    assert why("innodb_buffer_pool_size", "1100M", rounded) == (
        "the server rounds it up to a multiple of its chunks, 1073741824 bytes"
    )
    assert (
        why("innodb_buffer_pool_size", "1100M", {**rounded, "innodb_buffer_pool_size": "3221225472"}) is None
    )
    assert why("key_buffer_size", 1000000, {"key_buffer_size": "999424"}) == (
        "the server rounds it down to a multiple of 4096"
    )
    assert why("thread_stack", 1000, {"thread_stack": "131072"}) is None


def test_a_limit_of_open_files_is_named_as_the_cause() -> None:
    shown = {"max_connections": "214", "open_files_limit": "1024"}
    assert why("max_connections", 450, shown) == (
        "the server lowered it to fit the limit of open files, 1024"
    )


def test_a_difference_reads_as_a_sentence() -> None:
    assert (
        str(SettingDifference("max_connections", "450", "214"))
        == "max_connections: configured 450, in force 214"
    )


@given(
    count=st.integers(0, 2**40), power=st.sampled_from(list(enumerate(["", "K", "M", "G", "T", "P", "E"])))
)
def test_sizes_with_suffixes_are_exact(count: int, power: tuple[int, str]) -> None:
    exponent, suffix = power
    assert number(f"{count}{suffix.lower()}") == count * 1024**exponent


@given(value=st.integers(-(2**63), 2**64), other=st.integers(-(2**63), 2**64))
def test_whole_numbers_differ_exactly_when_they_are_different(value: int, other: int) -> None:
    differs = settings_difference({"max_join_size": value}, {"max_join_size": str(other)}) != ()
    assert differs == (value != other)


def test_numbers_are_distinguished_from_words() -> None:
    assert number("O_DIRECT") is None
    assert number("1,2") is None
    assert number("") is None
    assert number("0.75") == 0.75
