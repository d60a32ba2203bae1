"""What of the facts travels with an advice, so that it can be proved without the facts: pure.

How much data there is, which settings are not the defaults, what the load was like, which disks carry the
data. No statement, no name of a table or an account.
"""

from collections.abc import Mapping

from mydyno.survey.facts import Host, Server, Status, System
from mydyno.survey.facts.server import Schema
from mydyno.survey.facts.storage import Storage

SETTINGS = (
    "innodb_buffer_pool_size", "innodb_redo_log_capacity", "innodb_log_file_size",
    "innodb_log_files_in_group", "innodb_log_buffer_size", "innodb_flush_log_at_trx_commit",
    "innodb_flush_method", "innodb_doublewrite", "innodb_io_capacity", "innodb_io_capacity_max",
    "innodb_file_per_table", "innodb_adaptive_hash_index", "innodb_change_buffering",
    "innodb_read_io_threads", "innodb_write_io_threads", "innodb_thread_concurrency", "log_bin",
    "sync_binlog", "binlog_format", "table_open_cache", "table_definition_cache", "thread_cache_size",
    "thread_handling", "query_cache_type", "query_cache_size", "sort_buffer_size", "join_buffer_size",
    "read_buffer_size", "read_rnd_buffer_size", "tmp_table_size", "max_heap_table_size",
    "transaction_isolation", "tx_isolation",
)  # fmt: skip
"""What decides how fast an OLTP load is, and nothing that names a file, a network or an account."""

CACHES = ("key_buffer_size", "aria_pagecache_buffer_size")
"""What holds data in memory besides the buffer pool."""

POOL_REQUESTS, POOL_READS = "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads"
READING = ("Com_select",)
WRITING = ("Com_insert", "Com_update", "Com_delete", "Com_replace", "Com_update_multi", "Com_delete_multi")
_COUNTERS = (
    *(POOL_REQUESTS, POOL_READS, *READING, *WRITING),
    *("Innodb_buffer_pool_pages_data", "Innodb_buffer_pool_pages_free", "Innodb_buffer_pool_pages_total"),
    *("Innodb_page_size", "Questions", "Uptime"),
    *("Threads_connected", "Threads_running", "Max_used_connections"),
)


def excerpt(system: System) -> System:
    """The same system with nothing but what proving an advice needs."""
    return System(
        mydyno=system.mydyno,
        read_at=system.read_at,
        server=_server(system.server),
        host=_host(system.host) if system.host else None,
    )


def _server(server: Server) -> Server:
    status = server.status
    names = {*SETTINGS, *CACHES}
    return Server(
        version=server.version,
        variables={name: value for name, value in server.variables.items() if name in names},
        status=Status(before=_counters(status.before), after=_counters(status.after), seconds=status.seconds),
        schema_facts=_totals(server.schema_facts) if server.schema_facts else None,
    )


def _counters(status: Mapping[str, str]) -> dict[str, str]:
    return {name: status[name] for name in _COUNTERS if name in status}


def _totals(schema: Schema) -> Schema:
    return Schema(
        tables=schema.tables, bytes_by_engine=schema.bytes_by_engine, tables_by_engine=schema.tables_by_engine
    )


def _host(host: Host) -> Host:
    return Host(cpu=host.cpu, memory=host.memory, storage=_of_data(host.storage))


def _of_data(storage: Storage) -> Storage:
    filesystem = storage.of("data")
    if filesystem is None:
        return Storage()
    array, speed = storage.array_of(filesystem), storage.speed_of(filesystem)
    return Storage(
        disks=storage.disks_of(filesystem),
        arrays=(array,) if array else (),
        filesystems=(filesystem,),
        uses=tuple(
            use for use in storage.uses if use.files == "data" and use.mount_point == filesystem.mount_point
        ),
        speeds=(speed,) if speed else (),
    )
