"""What the names in SHOW GLOBAL STATUS mean: which only count up, which go both ways.

The server does not say (its SHOW_VAR types are C types). Sources: MariaDB documentation, "Server Status
Variables" and "InnoDB Status Variables"; MySQL 8.0 Reference Manual, "Server Status Variables". The rules
are tried in this order, first match wins; tests/lab/sampling holds the names of MariaDB 10.11 and MySQL 8.0
with their kinds.

A name that nothing here matches is `unknown`: it is shown as it is and never turned into a rate.
"""

import re
from functools import cache
from typing import Literal

Kind = Literal["counter", "gauge", "high-water", "unknown"]
"""counter: grows until the server restarts (or FLUSH STATUS); its rate is what matters.
gauge: a state, up and down, or a constant.
high-water: the largest value so far; its last value is what matters, its rate nothing."""

_HIGH_WATER = (
    r"Max_used_connections",
    r"Max_memory_used",
    r"Innodb_row_lock_time_max",
    r"Tc_log_max_pages_used",
    r"Key_blocks_used",  # "a high-water mark", says the manual; its siblings are states
)

_GAUGE = (
    r"Acl_.*",
    r"Aria_pagecache_blocks_.*",
    r"Binlog_snapshot_position",
    r"Delayed_insert_threads",
    r"Error_log_buffered_.*",
    r"Error_log_latest_write",
    r"Firewall_cached_entries",
    r"Global_connection_memory",
    r"Innodb_available_undo_logs",
    r"Innodb_buffer_pool_(bytes|pages)_(data|dirty|free|latched|misc|old|total)",
    r"Innodb_buffer_pool_resize_status_.*",
    r"Innodb_checkpoint_(age|max_age|target_age)",
    r"Innodb_(data|os_log)_pending_.*",
    r"Innodb_encryption_rotation_estimated_iops",
    r"Innodb_history_list_length",
    r"Innodb_ibuf_(free_list|segment_size|size)",
    r"Innodb_mem_.*",
    r"Innodb_num_open_files",
    r"Innodb_onlineddl_.*",
    r"Innodb_page_size",
    r"Innodb_redo_log_(capacity_resized|logical_size|physical_size|uuid)",
    r"Innodb_row_lock_(current_waits|time_avg)",
    r"Innodb_undo_tablespaces_.*",
    r"Key_blocks_.*",
    r"Last_query_.*",
    r"Memory_used(_initial)?",
    r"Mysqlx_(worker_threads.*|ssl_(active|(ctx_)?verify_.*))",
    r"Not_flushed_delayed_rows",
    r"Open_.*",
    r"Prepared_stmt_count",
    r"Qcache_(free_.*|queries_in_cache|total_blocks)",
    r"Rpl_semi_sync_.*_(clients|wait_sessions|avg_wait_time)",
    r"(Slave|Replica)_(heartbeat_period|open_temp_tables)",
    r"Slaves_(connected|running)",
    r"Ssl_(ctx_)?verify_.*",
    r"Ssl_(default_timeout|session_cache_size|used_session_cache_entries)",
    r"Stack_usage",
    r"Table_open_cache_active_instances",
    r"Tc_log_page_size",
    r"Threadpool_.*",
    r"Threads_(cached|connected|running)",
    r"wsrep|wsrep_(applier_thread_count|cluster_.*|local_index|rollbacker_thread_count|thread_count)",
)

_COUNTER = (
    r"Aborted_.*|Access_denied_errors",
    r"Aria_.*",
    r"Binlog_.*",
    r"Busy_time|Cpu_time|Query_time",
    r"Bytes_.*",
    r"Column_(de)?compressions",
    r"Com_.*",
    r"Connection_(control|errors)_.*|Connections|Locked_connects",
    r"Created_tmp_.*",
    r"Delayed_(errors|writes)",
    r"Delete_scan|Update_scan",
    r"Deprecated_use_.*",
    r"Empty_queries|Max_statement_time_exceeded|Max_execution_time_.*",
    r"Error_log_expired_events",
    r"Executed_.*",
    r"Feature_.*",
    r"Firewall_access_.*",
    r"Flush_commands",
    r"Handler_.*",
    r"Innodb_.*",
    r"Key_(read|write).*",
    r"Master_gtid_wait_.*",
    r"Mysqlx_.*",
    r"Opened_.*",
    r"Optimizer_join_prefixes_check_calls",
    r"Performance_schema_.*_lost",
    r"Qcache_.*",
    r"Queries|Questions|Slow_(queries|launch_threads)",
    r"Resultset_metadata_skipped",
    r"Rows_.*",
    r"Rpl_.*",
    r"Secondary_engine_execution_count",
    r"Select_.*|Sort_.*",
    r"(Slave|Replica)_(connections|received_heartbeats|retried_transactions|skipped_errors)",
    r"Ssl_.*",
    r"Subquery_cache_.*",
    r"Syncs",
    r"Table_(locks|open_cache)_.*",
    r"Tc_log_page_waits",
    r"Threads_created",
    r"Transactions_.*",
    r"Uptime(_since_flush_status)?",
    r"wsrep_local_bf_aborts",
)


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_RULES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("high-water", _any_of(_HIGH_WATER)),
    ("gauge", _any_of(_GAUGE)),
    ("counter", _any_of(_COUNTER)),
)


@cache
def kind(name: str) -> Kind:
    """The kind of a numeric status variable, by its name as the server writes it."""
    return next((found for found, pattern in _RULES if pattern.fullmatch(name)), "unknown")


def number(text: str) -> int | float | None:
    """The value of a status variable; None for text, `NULL` and emptiness (ON and OFF are text).

    An integer beyond 2^63 - 1 comes as a float, since neither Parquet columns of integers nor SQLite hold it.
    """
    try:
        value = int(text)
    except ValueError:
        try:
            found = float(text)
        except ValueError:
            return None
        return found if found - found == 0 else None
    return value if abs(value) < 2**63 else float(value)
