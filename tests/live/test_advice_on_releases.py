"""Advice on real servers of every release: what is advised is taken, read back as set, and not advised again.

The servers are started with settings that rules are about; the machine and the load in their facts are made
up, so that many rules have something to say and nothing that is advised is too large for the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from live.conftest import Start
from mydyno.advise import advise
from mydyno.advise.change import SetVariable
from mydyno.advise.setting import in_force
from mydyno.catalogue import catalogue
from mydyno.core.server_variables import Setting
from mydyno.facts import Cpu, Disk, DiskSpeed, FileSystem, Host, Memory, Status, Storage, System, Use
from mydyno.stack import RunningServer, ServerBinary, settings_difference
from mydyno.stack.server.global_variables import as_value, read, write
from mydyno.stack.server.releases import binary_of
from mydyno.survey import survey

pytestmark = pytest.mark.live

MIB, GIB = 1 << 20, 1 << 30
OTHERS = ("mariadb-10.5", "mariadb-10.11", "mariadb-11.8", "mysql-5.6", "mysql-9.7")

QUESTIONABLE: Mapping[str, Setting] = {
    "innodb_adaptive_flushing": "OFF",
    "innodb_buffer_pool_dump_at_shutdown": "OFF",
    "innodb_buffer_pool_load_at_startup": "OFF",
    "innodb_data_file_buffering": "ON",
    "innodb_deadlock_detect": "OFF",
    "innodb_doublewrite": "OFF",
    "innodb_fast_shutdown": 2,
    "innodb_file_per_table": "OFF",
    "innodb_flush_log_at_trx_commit": 2,
    "innodb_flush_method": "fsync",
    "innodb_io_capacity": 100,
    "innodb_io_capacity_max": 200,
    "innodb_lru_scan_depth": 16384,
    "innodb_max_dirty_pages_pct": 5,
    "innodb_old_blocks_time": 0,
    "innodb_read_io_threads": 1,
    "innodb_stats_on_metadata": "ON",
    "innodb_stats_persistent": "OFF",
    "innodb_status_output": "ON",
    "innodb_thread_concurrency": 1,
    "innodb_undo_log_truncate": "OFF",
    "innodb_write_io_threads": 1,
    "join_buffer_size": "16M",
    "sort_buffer_size": "32M",
    "max_connections": 20,
    "thread_cache_size": 0,
    "table_open_cache": 64,
    "back_log": 50,
    "big_tables": "ON",
    "binlog_format": "STATEMENT",
    "default_storage_engine": "MyISAM",
    "general_log": "ON",
    "internal_tmp_mem_storage_engine": "MEMORY",
    "key_buffer_size": "256M",
    "lock_wait_timeout": 31_536_000,
    "log_bin": "binlog",
    "log_error_verbosity": 1,
    "log_output": "TABLE",
    "log_queries_not_using_indexes": "ON",
    "log_warnings": 0,
    "long_query_time": 10,
    "max_connect_errors": 100,
    "max_heap_table_size": "1G",
    "query_cache_size": "16M",
    "query_cache_type": 1,
    "read_buffer_size": "8M",
    "read_rnd_buffer_size": "16M",
    "server_id": 1,
    "sync_binlog": 0,
    "table_open_cache_instances": 1,
    "temptable_max_mmap": "1G",
    "temptable_max_ram": "1G",
    "tmp_table_size": "1G",
}
"""What a release does not have, or only lists, is left out."""

COUNTERS: Mapping[str, tuple[float, float]] = {
    "Uptime": (863_940, 864_000),
    "Innodb_os_log_written": (1e12, 1e12 + 60e6),
    "Innodb_log_waits": (0, 600),
    "Innodb_buffer_pool_pages_free": (0, 0),
    "Innodb_buffer_pool_pages_total": (8192, 8192),
    "Innodb_deadlocks": (0, 60),
    "Max_used_connections": (20, 20),
    "Connections": (1e6, 1.1e6),
    "Threads_created": (9e5, 1e6),
    "Open_tables": (64, 64),
    "Opened_tables": (1e6, 1.1e6),
    "Aborted_connects": (200, 200),
    "Created_tmp_tables": (1e6, 1.1e6),
    "Key_blocks_used": (10, 10),
    "Qcache_hits": (10, 10),
    "Slow_queries": (1000, 1100),
    "Threads_running": (80, 90),
}
"""Before and after a minute of a load that the test does not make."""


def machine() -> Host:
    """2G of memory, eight CPUs and a solid-state disk with 2G free: small enough to be followed here."""
    data = FileSystem(
        mount_point="/data",
        kind="ext4",
        source="/dev/sda",
        options=("rw",),
        disks=("sda",),
        free_bytes=2 * GIB,
    )
    return Host(
        cpu=Cpu(count=8),
        memory=Memory(total=2 * GIB, available=2 * GIB, swap_total=0),
        storage=Storage(
            disks=(Disk(name="sda", kind="ssd"),),
            filesystems=(data,),
            uses=(Use(files="data", path="/data", mount_point="/data"),),
            speeds=(DiskSpeed(mount_point="/data", read_iops=20_000, write_iops=8_000),),
        ),
        systemd=True,
        container=False,
    )


def facts(server: RunningServer) -> System:
    """What the server says of itself, with the machine and the load of the test."""
    told = survey(server.login, seconds=0)
    known = set(told.server.status.after)
    before = {name: f"{numbers[0]:.0f}" for name, numbers in COUNTERS.items() if name in known}
    after = {name: f"{numbers[1]:.0f}" for name, numbers in COUNTERS.items() if name in known}
    status = Status(
        before={**told.server.status.after, **before}, after={**told.server.status.after, **after}, seconds=60
    )
    loaded = told.server.model_copy(update={"status": status})
    return told.model_copy(update={"server": loaded, "host": machine()})


def advised(system: System) -> dict[str, SetVariable]:
    changes = (change for found in advise(system, system.read_at).findings for change in found.changes)
    return {change.name: change for change in changes if isinstance(change, SetVariable)}


def heeds(binary: ServerBinary, name: str) -> bool:
    """Whether the release has the setting and does not merely list it."""
    row = catalogue().get(name)
    return name in binary.options and row is not None and not row.ignored(binary.version)


def check(binary: ServerBinary, start: Start) -> None:
    config = {name: value for name, value in QUESTIONABLE.items() if heeds(binary, name)}
    server = start(config)
    changes = advised(facts(server))
    assert len(changes) >= 20, sorted(changes)
    with server.connect() as connection, connection.cursor() as cursor:
        for change in changes.values():
            if not change.restart:
                now = read(cursor, [change.name])[change.name]
                write(cursor, change.name, as_value(change.value, now))
    then = facts(server).server
    live = [change for change in changes.values() if not change.restart]
    assert [change for change in live if not in_force(then, change.name, change.value)] == []
    assert server.stop()

    settings = {name: change.value for name, change in changes.items()}
    again = start({**config, **settings})
    assert settings_difference(settings, again.variables()) == ()
    assert advised(facts(again)) == {}


def test_the_systems_server_takes_what_is_advised(start: Start, binary: ServerBinary) -> None:
    check(binary, start)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", OTHERS)
def test_every_release_takes_what_is_advised(name: str, start_release: Callable[[str], Start]) -> None:
    start = start_release(name)
    check(binary_of(name), start)
