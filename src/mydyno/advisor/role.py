"""What must not be changed on this system, because something else rules it: a provider, a cluster, a host.

Sources: MariaDB Documentation, "Configuring MariaDB Galera Cluster" and "MariaDB Galera Cluster - Known
Limitations"; MySQL Reference Manual, "Group Replication Requirements", "Changing GTID Mode on Online
Servers", "Setting The Binary Log Format"; Amazon RDS User Guide, "Working with parameter groups".
"""

from collections.abc import Mapping
from typing import NamedTuple

from mydyno.apply import change as changes
from mydyno.server.variables.row import same_value
from mydyno.survey.facts import Role, System


class _Guard(NamedTuple):
    """Variables that may only have the `allowed` values (none: are left alone) on a server that is any of
    `roles`. All are lists of words."""

    roles: str
    """Fields of Role, or `first`: a source that does not replicate itself."""
    names: str
    allowed: str
    because: str

    def holds(self, role: Role) -> bool:
        """Of a role that is known in all."""
        first = role.source and not role.replica
        return any(first if name == "first" else getattr(role, name) for name in self.roles.split())


def forbidden(system: System, change: changes.Change) -> str | None:
    """Why mydyno must not make this change here, one sentence; None: it may."""
    match change:
        case changes.ByHand():
            return None
        case changes.SetVariable(name=name, value=value):
            return _of_variable(system.server.role, name, value)
        case changes.RemoveVariable(name=name):
            return _of_variable(system.server.role, name, None)
        case _:
            return _of_host(system, change)


def _of_variable(role: Role, name: str, value: str | None) -> str | None:
    if role.managed is not None:
        return _of_service(role.managed, name)
    for guard in _GUARDS:
        kept = value is not None and any(same_value(value, allowed) for allowed in guard.allowed.split())
        if name not in guard.names.split() or kept or not any(guard.holds(each) for each in role.possible()):
            continue
        surely = all(guard.holds(each) for each in role.possible())
        return guard.because if surely else f"its role is not fully known, and possibly {guard.because}"
    return None


def _of_service(service: str, name: str) -> str:
    if "Aurora" in service and name in _NOT_IN_AURORA:
        return f"{service} has its own storage layer, which ignores {name}"
    way = next((way for maker, way in _WAYS.items() if maker in service), "its own console")
    return f"{service} is configured only through {way}"


def _of_host(system: System, change: changes.Change) -> str | None:
    role, host = system.server.role, system.host
    if role.managed is not None:
        return f"the host belongs to {role.managed}"
    if host is None:
        return "the server's host was not read"
    if host.container:
        return f"the server runs in a container: {_OUTSIDE[type(change)]}"
    if isinstance(change, changes.SetUnit) and host.systemd is False:
        return "systemd does not run this machine"
    return None


_OUTSIDE: Mapping[type, str] = {
    changes.SetSysctl: "kernel settings are set on the machine that runs it, or with `docker run --sysctl`",
    changes.SetSysfs: "kernel settings are set on the machine that runs it",
    changes.SetQueue: "disk queues belong to the machine that runs it",
    changes.SetArray: "arrays belong to the machine that runs it",
    changes.SetMountOptions: "its volumes are mounted by the machine that runs it",
    changes.SetUnit: "limits come from the program that starts it, for example `docker run --ulimit`",
}
_WAYS = {
    "Aurora": "its DB cluster or DB parameter group",
    "RDS": "its DB parameter group",
    "Azure": "its server parameters (portal, or `az mysql flexible-server parameter set`)",
    "Cloud SQL": "its database flags (`gcloud sql instances patch --database-flags`)",
}
_NOT_IN_AURORA = frozenset((
    "innodb_doublewrite", "innodb_flush_method", "innodb_flush_neighbors", "innodb_io_capacity",
    "innodb_io_capacity_max", "innodb_log_buffer_size", "innodb_log_file_size", "innodb_log_files_in_group",
    "innodb_redo_log_capacity",
))  # fmt: skip

_GALERA = "Galera orders transactions by row events and by their keys: "
_GROUP = "a member of Group Replication needs "
_CLUSTER = "galera group_replication"
_REPLICATES = f"replica source {_CLUSTER}"
_GUARDS = (
    _Guard("galera", "innodb_autoinc_lock_mode", "2", f"{_GALERA}it needs innodb_autoinc_lock_mode = 2"),
    _Guard("galera", "binlog_format", "ROW", f"{_GALERA}it needs binlog_format = ROW"),
    _Guard(
        *("galera", "binlog_row_image", "FULL"),
        f"{_GALERA}write sets carry whole rows, so binlog_row_image stays FULL",
    ),
    _Guard(
        *("galera", "innodb_doublewrite", "ON"),
        "without the doublewrite buffer a Galera node with a torn page needs a whole state transfer",
    ),
    _Guard(_CLUSTER, "default_storage_engine", "InnoDB", "only InnoDB tables are replicated by the cluster"),
    _Guard("galera", "log_output", "FILE", "Galera does not support logs in tables: log_output stays FILE"),
    _Guard(
        *(_CLUSTER, "transaction_isolation tx_isolation", "READ-COMMITTED REPEATABLE-READ"),
        "locks of SERIALIZABLE do not reach other nodes of a cluster",
    ),
    _Guard("group_replication", "binlog_format", "ROW", f"{_GROUP}binlog_format = ROW"),
    _Guard(
        "group_replication",
        "gtid_mode enforce_gtid_consistency log_replica_updates log_slave_updates",
        *("ON", f"{_GROUP}GTIDs and the log of applied updates"),
    ),
    _Guard(
        *("group_replication", "master_info_repository relay_log_info_repository", "TABLE"),
        f"{_GROUP}its positions in tables",
    ),
    _Guard(
        *("group_replication", "replica_preserve_commit_order slave_preserve_commit_order", "ON"),
        f"{_GROUP}the order of commits preserved",
    ),
    _Guard(
        *("group_replication", "replica_parallel_type slave_parallel_type", "LOGICAL_CLOCK"),
        f"{_GROUP}parallel appliers by LOGICAL_CLOCK",
    ),
    _Guard(
        "group_replication",
        "binlog_checksum binlog_transaction_dependency_tracking transaction_write_set_extraction"
        " lower_case_table_names default_table_encryption",
        *("", "all members of Group Replication must agree on it"),
    ),
    _Guard("group_replication", "read_only super_read_only", "", "Group Replication sets read_only itself"),
    _Guard(
        *("galera first", "read_only super_read_only", "OFF"),
        "the application writes here: read_only would refuse it",
    ),
    _Guard(
        _REPLICATES,
        "gtid_mode enforce_gtid_consistency gtid_strict_mode gtid_domain_id server_id",
        *("", "it is changed step by step on all servers of a topology together"),
    ),
    _Guard(
        _REPLICATES,
        "sql_mode lower_case_table_names explicit_defaults_for_timestamp default_time_zone",
        *("", "servers that replicate must agree on it, or the same statement has different effects"),
    ),
    _Guard(
        *("source replica", "binlog_format", ""),
        "a replica with binlog_format STATEMENT cannot replay rows: change the replicas first, then here",
    ),
    _Guard(
        *("source group_replication", "binlog_row_image", "FULL"),
        "readers of its binary log may need whole rows: replicas with other columns, change data capture",
    ),
    _Guard(
        *("source", "expire_logs_days binlog_expire_logs_seconds", ""),
        "a replica that was disconnected for longer could no longer catch up",
    ),
)
