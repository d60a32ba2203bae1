"""Advice on real servers of every release: what is advised is taken, read back as set, and not advised again.

The servers are started with settings that rules are about; the machine and the load in their facts are made
up, so that many rules have something to say and nothing that is advised is too large for the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from live.conftest import Start
from mydyno.advisor import advise
from mydyno.advisor.registry import variables
from mydyno.advisor.setting import in_force
from mydyno.apply.acts.global_variables import setting_globals
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.change import SetVariable
from mydyno.core.server_variables import Setting
from mydyno.lab.stack import RunningServer, ServerBinary, settings_difference
from mydyno.server.releases import binary_of
from mydyno.server.variables.names import understand
from mydyno.survey import survey
from mydyno.survey.facts import (
    Cpu,
    Disk,
    DiskSpeed,
    FileSystem,
    Host,
    Memory,
    Schema,
    Status,
    Storage,
    System,
    Use,
)

pytestmark = pytest.mark.live

MIB, GIB = 1 << 20, 1 << 30
OTHERS = ("mariadb-10.5", "mariadb-10.11", "mariadb-11.8", "mysql-5.6", "mysql-9.7")

QUESTIONABLE: Mapping[str, Setting] = {
    "back_log": 10,
    "big_tables": "ON",
    "binlog_format": "STATEMENT",
    "default_storage_engine": "MyISAM",
    "general_log": "ON",
    "innodb_adaptive_flushing": "OFF",
    "innodb_adaptive_hash_index": "ON",
    "innodb_buffer_pool_dump_at_shutdown": "OFF",
    "innodb_buffer_pool_load_at_startup": "OFF",
    "innodb_change_buffering": "all",
    "innodb_checksum_algorithm": "innodb",
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
    "innodb_random_read_ahead": "ON",
    "innodb_read_io_threads": 1,
    "innodb_stats_on_metadata": "ON",
    "innodb_stats_persistent": "OFF",
    "innodb_status_output": "ON",
    "innodb_support_xa": "OFF",
    "innodb_thread_concurrency": 1,
    "innodb_undo_log_truncate": "OFF",
    "innodb_use_native_aio": "OFF",
    "innodb_write_io_threads": 1,
    "internal_tmp_mem_storage_engine": "MEMORY",
    "join_buffer_size": "16M",
    "key_buffer_size": "512M",
    "lock_wait_timeout": 31536000,
    "log_bin": "binlog",
    "log_output": "TABLE",
    "log_queries_not_using_indexes": "ON",
    "long_query_time": 600,
    "max_allowed_packet": "1M",
    "max_connect_errors": 1,
    "max_connections": 20,
    "myisam_recover_options": "OFF",
    "query_cache_size": "16M",
    "query_cache_type": "ON",
    "read_buffer_size": "8M",
    "read_rnd_buffer_size": "16M",
    "server_id": 1,
    "sort_buffer_size": "32M",
    "sync_binlog": 0,
    "table_open_cache": 64,
    "table_open_cache_instances": 1,
    "temptable_max_ram": "2M",
    "thread_cache_size": 0,
    "wait_timeout": 31536000,
}
"""What a release does not have or take, or only lists, is left out."""

COUNTERS: Mapping[str, tuple[float, float]] = {
    "Uptime": (863_940, 864_000),
    "Aborted_connects": (0, 6_000),
    "Com_select": (1e9, 1.1e9),
    "Connections": (1e6, 1.1e6),
    "Created_tmp_disk_tables": (9e5, 1e6),
    "Created_tmp_tables": (9e5, 1e6),
    "Innodb_adaptive_hash_hash_searches": (1e6, 1e6),
    "Innodb_adaptive_hash_non_hash_searches": (9e6, 9e6),
    "Innodb_buffer_pool_pages_free": (0, 0),
    "Innodb_buffer_pool_pages_total": (8192, 8192),
    "Innodb_buffer_pool_read_ahead": (1e6, 1e6),
    "Innodb_buffer_pool_read_ahead_evicted": (1e6, 1e6),
    "Innodb_buffer_pool_read_ahead_rnd": (1e6, 1e6),
    "Innodb_data_pending_reads": (1000, 1000),
    "Innodb_deadlocks": (0, 60),
    "Innodb_history_list_length": (5e5, 5e5),
    "Innodb_log_waits": (0, 600),
    "Innodb_os_log_written": (1e12, 1e12 + 60e6),
    "Key_blocks_used": (10, 10),
    "Max_used_connections": (20, 20),
    "Open_tables": (64, 64),
    "Opened_tables": (1e6, 1.1e6),
    "Qcache_hits": (10, 10),
    "Threads_created": (9e5, 1e6),
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
    result = survey(server.login, seconds=0, settable=variables())
    known = set(result.server.status.after)
    before = {name: f"{numbers[0]:.0f}" for name, numbers in COUNTERS.items() if name in known}
    after = {name: f"{numbers[1]:.0f}" for name, numbers in COUNTERS.items() if name in known}
    status = Status(
        before={**result.server.status.after, **before},
        after={**result.server.status.after, **after},
        seconds=60,
    )
    # With innodb_stats_on_metadata on it is not read: what is known must not grow between two readings.
    schema = result.server.schema_facts or Schema(tables=0, bytes_by_engine={}, tables_by_engine={})
    loaded = result.server.model_copy(update={"status": status, "schema_facts": schema})
    return result.model_copy(update={"server": loaded, "host": machine()})


def advised(system: System) -> dict[str, SetVariable]:
    changes = (change for found in advise(system, system.read_at).findings for change in found.changes)
    return {change.name: change for change in changes if isinstance(change, SetVariable)}


def heeds(binary: ServerBinary, name: str) -> bool:
    """Whether the release has the setting, heeds it, and takes this value."""
    return name in binary.options and not understand(binary, {name: QUESTIONABLE[name]}).problems


def check(binary: ServerBinary, start: Start) -> None:
    config = {name: value for name, value in QUESTIONABLE.items() if heeds(binary, name)}
    server = start(config)
    changes = advised(facts(server))
    assert len(changes) >= 20, sorted(changes)
    live = {name: change.value for name, change in changes.items() if not change.restart}
    context = ApplyContext(login=server.login)
    setting_globals(context, live).do(context)
    then = facts(server).server
    assert {name: value for name, value in live.items() if not in_force(then, name, value)} == {}
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
