"""Advice to servers that are not ours to change alone: what must not be made is left to be made by hand."""

import pytest

from advisor.builders import MARIADB, MYSQL_84, a_role, host, server, system, variable
from mydyno.advisor import advise
from mydyno.advisor.role import forbidden
from mydyno.apply.change import ByHand, Change
from mydyno.survey.facts import Disk, FileSystem, Origin, Process, Role, Storage, System, Unit, Use

NOW = "2026-11-21T00:00:00Z"
NEGLECTED = {
    "binlog_format": "STATEMENT",
    "binlog_row_image": "FULL",
    "default_storage_engine": "MyISAM",
    "general_log": "ON",
    "innodb_autoinc_lock_mode": "1",
    "innodb_doublewrite": "OFF",
    "innodb_flush_log_at_trx_commit": "2",
    "innodb_io_capacity": "200",
    "innodb_large_prefix": variable("ON", origin=Origin(source="file", file="/etc/my.cnf", line=3)),
    "innodb_log_file_size": str(48 << 20),
    "log_bin": "ON",
    "log_output": "TABLE",
    "long_query_time": "10.000000",
    "max_connections": "151",
    "query_cache_size": str(64 << 20),
    "query_cache_type": "ON",
    "read_only": "OFF",
    "relay_log_recovery": "OFF",
    "slow_query_log": "OFF",
    "sync_binlog": "0",
    "transaction_isolation": "REPEATABLE-READ",
}
STATUS = {
    "Binlog_bytes_written": 1e13,
    "Com_delete": 0.0,
    "Com_insert": 0.0,
    "Com_select": 1e6,
    "Connection_errors_max_connections": 9.0,
    "Max_used_connections": 152.0,
    "Qcache_hits": 10.0,
    "Questions": 1e9,
    "Slow_queries": 9.0,
    "Threads_connected": 100.0,
    "Threads_running": 2.0,
}
ROLES = {
    "alone": a_role(),
    "replica": a_role(replica=True),
    "source": a_role(source=True),
    "both": a_role(source=True, replica=True),
    "galera": a_role(galera=True),
    "group": a_role(group_replication=True),
    "rds": a_role(managed="Amazon RDS"),
    "aurora": a_role(managed="Amazon Aurora"),
    "azure": a_role(managed="Azure Database"),
    "cloud-sql": a_role(managed="Cloud SQL"),
}


def neglected(role: Role, version: str = MARIADB, *, container: bool = False) -> System:
    storage = Storage(
        disks=(Disk(name="sda", kind="ssd", scheduler="bfq", schedulers=("none", "mq-deadline", "bfq")),),
        filesystems=(
            FileSystem(
                mount_point="/data",
                kind="ext4",
                source="/dev/sda1",
                options=("rw", "strictatime"),
                disks=("sda",),
            ),
        ),
        uses=(Use(files="data", path="/data/mysql", mount_point="/data"),),
    )
    machine = host(
        sysctls={"vm.swappiness": "60"},
        container=container,
        storage=storage,
        process=Process(pid=1, unit=Unit(name="mariadb.service", properties={"LimitNOFILE": "1024"})),
    )
    return system(server(version, NEGLECTED, STATUS, role=role), machine)


def made(found: System) -> list[Change]:
    changes = [change for finding in advise(found, NOW).findings for change in finding.changes]
    return [change for change in changes if not isinstance(change, ByHand)]


@pytest.mark.parametrize("version", [MARIADB, MYSQL_84])
@pytest.mark.parametrize("role", ROLES.values(), ids=ROLES)
def test_no_advice_makes_a_change_that_the_role_forbids(role: Role, version: str) -> None:
    there = neglected(role, version)
    assert [change.sentence() for change in made(there) if forbidden(there, change)] == []


@pytest.mark.parametrize("name", ["rds", "aurora", "azure", "cloud-sql"])
def test_a_managed_service_is_advised_and_not_touched(name: str) -> None:
    there = neglected(ROLES[name])
    assert made(there) == []
    assert any("parameter" in change or "flags" in change for change in by_hand(there))


def by_hand(found: System) -> list[str]:
    changes = [change for finding in advise(found, NOW).findings for change in finding.changes]
    return [change.says for change in changes if isinstance(change, ByHand)]


def test_the_log_format_of_a_source_is_reported_with_why_mydyno_leaves_it() -> None:
    assert any(
        "binlog_format = ROW" in says and "replicas first" in says
        for says in by_hand(neglected(ROLES["source"]))
    )
    names = {change.target for change in made(neglected(ROLES["alone"]))}
    assert "variable binlog_format" in names


def test_only_a_server_without_writes_is_closed_to_writes() -> None:
    closed = {name for name, role in ROLES.items() if "variable read_only" in targets(neglected(role))}
    assert closed == {"replica"}


def targets(found: System) -> set[str]:
    return {change.target for change in made(found)}


def test_a_container_keeps_its_hosts_kernel_disks_and_mounts() -> None:
    kinds = {change.kind for change in made(neglected(a_role(), container=True))}
    assert kinds <= {"server variable", "remove server variable"}
    assert "server variable" in kinds


def test_galera_keeps_its_rows_and_gets_the_locks_that_it_needs() -> None:
    node = {change.sentence() for change in made(neglected(ROLES["galera"]))}
    assert "binlog_format = ROW (now STATEMENT)" in node
    assert not any(change.startswith("read_only") for change in node)
