"""What the attributes of a digest are called in text, and what each counts: one row an attribute.

Sources: MySQL Reference Manual, "The Slow Query Log" (`log_slow_extra`) and "Statement Summary Tables"
(performance_schema); Percona Server documentation, "Slow query log"; MariaDB documentation, "Slow Query Log
Extended Statistics", and MariaDB's commit for MDEV-31558 (pages and engine time).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Title:
    short: str
    """As it heads a column: `rows examined`."""
    means: str
    """What it counts, of one statement; begins with a small letter and ends without a full stop."""
    is_alarming: bool = False
    """Of a flag: whether a statement that has it is worth a look."""


def title(name: str) -> Title:
    """Of an attribute, by its name in the records; one that is not known here is its name in words."""
    return TITLES.get(name) or Title(name.replace("_", " "), "as the server reports it")


TITLES = {
    # Every server's slow log.
    "query_time": Title("query time", "from the statement's arrival to its end"),
    "lock_time": Title("lock time", "waiting for locks: tables and metadata, since MySQL 8.0.28 rows too"),
    "rows_sent": Title("rows sent", "rows sent to the client"),
    "rows_examined": Title("rows examined", "rows that the server read to find them"),
    # MariaDB, Percona Server, performance_schema.
    "rows_affected": Title("rows affected", "rows inserted, changed or deleted"),
    "rows_read": Title("rows read", "rows read from the storage engine"),
    "bytes_sent": Title("bytes sent", "bytes sent to the client"),
    "bytes_received": Title("bytes received", "bytes received from the client"),
    "tmp_tables": Title("temporary tables", "internal temporary tables"),
    "tmp_disk_tables": Title(
        "temporary tables on disk", "internal temporary tables that were written to disk"
    ),
    "tmp_table_sizes": Title("temporary tables' size", "bytes of all internal temporary tables"),
    "merge_passes": Title("sort merge passes", "merge passes over sorted runs"),
    "pages_accessed": Title("pages accessed", "page requests to the buffer pool"),
    "pages_read": Title("pages read", "pages read from disk because they were not in the buffer pool"),
    "pages_prefetched": Title("pages prefetched", "pages read ahead from disk"),
    "pages_updated": Title("pages updated", "pages that were changed"),
    "old_rows_read": Title("old rows read", "older versions of rows, read for a consistent view"),
    "pages_read_time": Title("page read time", "reading pages from disk"),
    "engine_time": Title("engine time", "inside the storage engine"),
    "innodb_io_r_ops": Title("InnoDB reads", "reads of InnoDB from disk"),
    "innodb_io_r_bytes": Title("InnoDB bytes read", "bytes that InnoDB read from disk"),
    "innodb_io_r_wait": Title("InnoDB read wait", "InnoDB waiting for its reads from disk"),
    "innodb_rec_lock_wait": Title("row lock wait", "InnoDB waiting for locks of rows"),
    "innodb_queue_wait": Title("InnoDB queue wait", "waiting to enter InnoDB"),
    "innodb_pages_distinct": Title("InnoDB pages", "different pages of InnoDB, about"),
    "cpu_time": Title("CPU time", "on a CPU"),
    "errors": Title("errors", "errors raised"),
    "warnings": Title("warnings", "warnings raised"),
    "max_controlled_memory": Title("memory, controlled", "most controlled memory in use at once"),
    "max_total_memory": Title("memory", "most memory in use at once"),
    # MySQL's log_slow_extra: the handler's and the sort's status variables, of one statement.
    "read_first": Title("reads of an index' first entry", "reads of an index' first entry"),
    "read_last": Title("reads of an index' last entry", "reads of an index' last entry"),
    "read_key": Title("reads by key", "rows found by a key of an index"),
    "read_next": Title("reads of the next in an index", "steps forward in an index"),
    "read_prev": Title("reads of the previous in an index", "steps back in an index"),
    "read_rnd": Title("reads by position", "rows fetched by their position, after a sort for one"),
    "read_rnd_next": Title("reads of the next in a table", "steps through a table without an index"),
    "sort_merge_passes": Title("sort merge passes", "merge passes over sorted runs"),
    "sort_range_count": Title("sorts of a range", "sorts of rows from an index range"),
    "sort_range": Title("sorts of a range", "sorts of rows from an index range"),
    "sort_rows": Title("rows sorted", "rows that were sorted"),
    "sort_scan_count": Title("sorts of a scan", "sorts of rows from a table scan"),
    "sort_scan": Title("sorts of a scan", "sorts of rows from a table scan"),
    "created_tmp_tables": Title("temporary tables", "internal temporary tables"),
    "created_tmp_disk_tables": Title(
        "temporary tables on disk", "internal temporary tables that were written to disk"
    ),
    # performance_schema.
    "select_full_join": Title("joins without an index", "joins that scanned a table for lack of an index"),
    "select_full_range_join": Title("joins by a range", "joins that searched a range for each row"),
    "select_range": Title("ranges of the first table", "joins whose first table was read by a range"),
    "select_range_check": Title(
        "joins that look for an index", "joins that looked for a usable index again for each row"
    ),
    "select_scan": Title("scans of the first table", "joins that scanned their first table"),
    "count_hit_tmp_table_size": Title(
        "temporary tables at their limit", "internal temporary tables that reached the largest size allowed"
    ),
    "max_tmp_disk_space_used": Title("temporary space", "most space for temporary files in use at once"),
    "log_slow_rate_limit": Title("one logged of", "how many statements or sessions one was logged of"),
    # Flags: yes or no of each statement.
    "full_scan": Title("full scan", "a table was scanned whole", is_alarming=True),
    "full_join": Title("full join", "a join had no index to use", is_alarming=True),
    "tmp_table": Title("temporary table", "an internal temporary table was made"),
    "tmp_table_on_disk": Title(
        "temporary table on disk", "an internal temporary table was written to disk", is_alarming=True
    ),
    "filesort": Title("sort", "rows were sorted for lack of an index in their order"),
    "filesort_on_disk": Title("sort on disk", "rows were sorted through files on disk", is_alarming=True),
    "no_index_used": Title("no index", "a table was scanned whole, no index was used", is_alarming=True),
    "no_good_index_used": Title(
        "no good index", "an index was looked for again for each row", is_alarming=True
    ),
    "priority_queue": Title("sort by priority queue", "only the first rows of an order were kept"),
    "qc_hit": Title("from the query cache", "the result came from the query cache"),
    "failed": Title("failed", "it ended with an error", is_alarming=True),
    "killed": Title("killed", "it was killed", is_alarming=True),
}
