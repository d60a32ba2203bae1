"""Which servers are incomparable: settings that differ although no factor sets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import pytest

from mydyno.lab.analysis.comparability import PROPERTIES, Effective, PropertyName, unequal

MYSQL_57 = {
    "innodb_log_file_size": "50331648",
    "innodb_log_files_in_group": "2",
    "innodb_flush_log_at_trx_commit": "1",
    "innodb_doublewrite": "ON",
    "log_bin": "OFF",
    "sync_binlog": "1",
    "gtid_mode": "OFF",
    "character_set_server": "utf8mb4",
    "collation_server": "utf8mb4_general_ci",
    "performance_schema": "OFF",
    "tx_isolation": "REPEATABLE-READ",
    "innodb_page_size": "16384",
    "innodb_flush_method": "O_DIRECT",
    "innodb_buffer_pool_size": "134217728",
    "innodb_log_buffer_size": "16777216",
}
MARIADB_106 = {
    **{
        name: value
        for name, value in MYSQL_57.items()
        if name not in ("gtid_mode", "innodb_log_files_in_group")
    },
    "sync_binlog": "0",
}


def mysql(
    numbers: tuple[int, ...] = (5, 7, 44), written: Mapping[str, str] | None = None, **other: str
) -> Effective:
    said = dict(written or {})
    return Effective(
        {**MYSQL_57, **other}, mariadb=False, numbers=numbers, written=said, configured=set(said)
    )


def mariadb(
    numbers: tuple[int, ...] = (10, 6, 18), written: Mapping[str, str] | None = None, **other: str
) -> Effective:
    said = dict(written or {})
    return Effective(
        {**MARIADB_106, **other}, mariadb=True, numbers=numbers, written=said, configured=set(said)
    )


def differing(*servers: Effective, across: str | None = None) -> dict[str, str]:
    """Property -> the sentence, with a release for each server."""
    points = [({"server.release": f"r{number}"}, server) for number, server in enumerate(servers, 1)]
    return {each.property.name: str(each) for each in unequal(points, across=across)}


def test_the_published_case_one_server_has_half_of_the_redo_log_since_its_release_keeps_one_file() -> None:
    written = {"innodb_log_file_size": "48M", "innodb_log_files_in_group": "2"}
    assert differing(mysql(written=written), mariadb(written=written)) == {
        "redo_capacity": "redo capacity is 96M (release = r1) and 48M (release = r2)"
    }
    # MariaDB 10.5 still shows the variable and does not heed it; 10.4 does.
    shown = {"innodb_log_files_in_group": "2"}
    assert "redo_capacity" in differing(mysql(), mariadb((10, 5, 29), **shown))
    assert differing(mysql(), mariadb((10, 4, 34), **shown)) == {}
    assert differing(mysql(), mariadb(innodb_log_file_size="100663296")) == {}


def test_the_capacity_of_newer_releases_is_what_was_asked_for_in_either_way() -> None:
    def newer(written: dict[str, str]) -> Effective:
        return mysql((8, 0, 36), written=written, innodb_redo_log_capacity="104857600")

    # As it is by default, 100M and 96M are the same.
    assert differing(mysql(), newer({})) == {}
    assert differing(mysql(), newer({"innodb_log_file_size": "48M"})) == {}
    old, new = {"innodb_log_file_size": "48M"}, {"innodb_redo_log_capacity": "256M"}
    larger = mysql((8, 0, 36), old, innodb_redo_log_capacity="268435456")
    assert differing(larger, mysql(written=old)) == {}
    # Translated by mydyno for this release: the capacity is what it was given.
    assert differing(replace(larger, configured=set(new)), mysql(written=old)).keys() == {"redo_capacity"}


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("flush_log", {"innodb_flush_log_at_trx_commit": "2"}),
        ("doublewrite", {"innodb_doublewrite": "0"}),
        ("binary_log", {"log_bin": "ON"}),
        ("character_set", {"character_set_server": "latin1"}),
        ("collation", {"collation_server": "utf8mb4_0900_ai_ci"}),
        ("performance_schema", {"performance_schema": "1"}),
        ("isolation", {"tx_isolation": "READ-COMMITTED"}),
        ("page_size", {"innodb_page_size": "8192"}),
        ("flush_method", {"innodb_flush_method": ""}),
        ("memory", {"innodb_buffer_pool_size": "268435456"}),
    ],
)
def test_each_property_that_differs_is_found_and_no_other(name: str, changed: dict[str, str]) -> None:
    assert list(differing(mysql(), mysql(**changed))) == [name]
    assert list(differing(mysql(**changed), mariadb(innodb_log_file_size="96M"))) == [name]


def test_syncs_and_gtids_of_the_binary_log_count_only_where_there_is_one() -> None:
    logged = {"log_bin": "ON"}
    assert differing(mysql(**logged), mysql(sync_binlog="0")).keys() == {"binary_log"}
    assert differing(mysql(**logged), mysql(sync_binlog="0", **logged)).keys() == {"sync_binlog"}
    # MariaDB gives GTIDs to all that it logs.
    same = {"innodb_log_file_size": "96M", "sync_binlog": "1", **logged}
    assert differing(mysql(**logged), mariadb(**same)).keys() == {"gtid"}
    assert differing(mysql(gtid_mode="ON", **logged), mariadb(**same)) == {}


def test_other_spellings_of_the_same_are_no_difference() -> None:
    assert (
        differing(mysql(), mysql(innodb_doublewrite="1", log_bin="0", innodb_flush_method="o_direct")) == {}
    )
    utf8 = {"character_set_server": "utf8", "collation_server": "utf8_general_ci"}
    utf8mb3 = {"character_set_server": "utf8mb3", "collation_server": "utf8mb3_general_ci"}
    assert differing(mysql(**utf8), mysql(**utf8mb3)) == {}
    newer = mysql((8, 4, 0), transaction_isolation="REPEATABLE-READ")
    assert differing(mysql(), newer) == {}
    split = {
        "innodb_data_file_buffering": "OFF",
        "innodb_flush_method": "fsync",
        "innodb_log_file_size": "96M",
    }
    assert differing(mysql(), mariadb((11, 8, 6), **split)) == {}


def test_a_pool_rounded_to_whole_chunks_is_the_same_memory() -> None:
    assert differing(mysql(), mysql(innodb_buffer_pool_size="138412032")) == {}


def test_what_a_factor_sets_may_differ_and_what_it_does_not_set_may_not() -> None:
    small = {"innodb_log_file_size": "48M"}
    large = {"INNODB-log-file-size": "512M"}
    assert differing(mysql(written=small), mysql(written=large, innodb_log_file_size="536870912")) == {}
    both = [
        mysql(written=small),
        mariadb(written=small),
        mysql(written=large, innodb_log_file_size="536870912"),
        mariadb(written=large, innodb_log_file_size="536870912"),
    ]
    points = [
        ({"server.config.innodb_log_file_size": size, "server.release": release}, server)
        for server, (size, release) in zip(
            both, [(size, release) for size in ("48M", "512M") for release in ("a", "b")], strict=True
        )
    ]
    [found] = unequal(points)
    assert str(found) == "redo capacity is 96M (release = a) and 48M (release = b)"


def test_runs_are_compared_whoever_set_what_differs_where_all_other_levels_are_the_same() -> None:
    lazy = {"innodb_flush_log_at_trx_commit": "2"}
    points = [
        ({"run": "before", "load": "read"}, mysql()),
        ({"run": "after", "load": "read"}, mysql(written=lazy, **lazy)),
        ({"run": "before", "load": "write"}, mysql(log_bin="ON")),
        ({"run": "after", "load": "write"}, mysql(log_bin="ON")),
    ]
    [found] = unequal(points, across="run")
    assert str(found) == "innodb_flush_log_at_trx_commit is 1 (run = before) and 2 (run = after)"


def test_points_that_no_factor_distinguishes_are_named_or_counted() -> None:
    levels = [{"a": a, "b": b} for a in ("1", "2") for b in ("1", "2")]
    logs = ["ON", "OFF", "OFF", "ON"]
    [found] = unequal((own, mysql(log_bin=log)) for own, log in zip(levels, logs, strict=True))
    assert str(found) == "log_bin is ON (1 · 1; 2 · 2) and OFF (1 · 2; 2 · 1)"


def test_what_a_server_does_not_report_is_not_compared() -> None:
    silent = Effective({}, mariadb=False, numbers=(), written={}, configured=())
    assert differing(mysql(), silent) == {}


def test_each_name_of_the_experiment_file_is_a_property() -> None:
    assert tuple(each.name for each in PROPERTIES) == get_args(PropertyName)
