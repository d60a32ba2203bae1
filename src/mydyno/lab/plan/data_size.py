"""How large the data of a workload is, before anybody has loaded it."""

from collections.abc import Mapping

from mydyno.lab.spec import ConfigValue, Workload
from mydyno.lab.workload.external_program import ExternalSysbench

EMPTY_DATADIR_BYTES = 40 * 1024**2
REDO_LOG_BYTES = 96 * 1024**2
"""MariaDB's innodb_log_file_size and MySQL's innodb_redo_log_capacity are 96M and 100M by default."""
UNDO_BYTES = 32 * 1024**2
"""Of new undo tablespaces: two of 16M (MySQL), three of 10M (MariaDB)."""
TEMPORARY_BYTES = 16 * 1024**2
"""Of a server that has just started: ibtmp1 has 12M, and MySQL ten tablespaces of 80K for sessions."""
BINARY_LOG_BYTES = 64 * 1024**2
"""A short load's; how much a long one writes is not known before."""
SYSBENCH_ROW_BYTES = 260
"""Row, index entry and half-filled pages; a freshly loaded sbtest table has about 240 bytes a row."""


def dataset_rows(workload: Workload) -> int:
    """Rows over all tables of the workload, freshly loaded; 0 when it makes its tables itself."""
    if workload.resolved is not None:
        return workload.resolved.rows
    external = workload.external
    return external.tables * external.rows if isinstance(external, ExternalSysbench) else 0


def tables_bytes(workload: Workload) -> int:
    """Bytes of the workload's tables (of fio: its files), freshly loaded or at their largest."""
    if workload.resolved is not None:
        return workload.resolved.data_bytes
    if workload.sql_bench is not None:
        return workload.sql_bench.most_bytes
    if workload.fio_options is not None:
        return workload.fio_options.file_bytes
    return SYSBENCH_ROW_BYTES * dataset_rows(workload)


def redo_bytes(config: Mapping[str, ConfigValue]) -> int:
    """Bytes of the redo log under these settings."""
    for name in ("innodb_redo_log_capacity", "innodb_log_file_size"):
        if name in config and (number := config[name].number) is not None:
            return int(number)
    return REDO_LOG_BYTES
