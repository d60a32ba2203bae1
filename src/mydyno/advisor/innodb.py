"""What several InnoDB rules read of a system: its buffer pool and into how many parts it should be cut, its
redo log, its history, its disks. None: not known."""

from mydyno.advisor.targets import Targets
from mydyno.advisor.targets.redo import redo_now
from mydyno.core.server_version import Version
from mydyno.survey.facts import Server, System

MIB = 1 << 20
GIB = 1 << 30

_SYNCHRONOUS_FLUSHING = 7 / 8
"""Of the redo log: about from here on changes wait for pages to be written (MySQL's log0chkp.cc)."""

Numbers = tuple[int, int, int]


def is_mysql(release: Version, since: Numbers, before: Numbers | None = None) -> bool:
    """Whether it is a MySQL (or Percona Server) of `since` or later, and older than `before`."""
    return not release.is_mariadb and _between(release, since, before)


def is_mariadb(release: Version, since: Numbers, before: Numbers | None = None) -> bool:
    return release.is_mariadb and _between(release, since, before)


def _between(release: Version, since: Numbers, before: Numbers | None) -> bool:
    return since <= release.numbers and (before is None or release.numbers < before)


def checkpoint_age(system: System) -> tuple[float, float] | None:
    """Bytes of redo that recovery would need now, and how many there may be before changes have to wait."""
    server = system.server
    age, most = server.counter("Innodb_checkpoint_age"), server.counter("Innodb_checkpoint_max_age")
    if age is not None and most:
        return age, most
    written = server.counter("Innodb_redo_log_current_lsn")
    kept = server.counter("Innodb_redo_log_checkpoint_lsn")
    if written is not None and kept is not None:
        age = written - kept
    elif server.innodb is not None and server.innodb.checkpoint_age_bytes is not None:
        age = float(server.innodb.checkpoint_age_bytes)
    capacity = redo_now(system)
    return None if age is None or not capacity else (age, capacity * _SYNCHRONOUS_FLUSHING)


def history_list_length(server: Server) -> float | None:
    """Transactions whose old row versions are not purged yet."""
    counted = server.counter("Innodb_history_list_length")
    if counted is not None or server.innodb is None:
        return counted
    known = server.innodb.history_list_length
    return None if known is None else float(known)


def data_disk_kinds(system: System) -> frozenset[str] | None:
    """What kinds of disks the data lies on; None when any of them is unknown or none is."""
    if system.host is None:
        return None
    storage = system.host.storage
    kinds = [disk.kind for disk in storage.disks_of(storage.of("data"))]
    return frozenset(kind for kind in kinds if kind) if kinds and all(kinds) else None


def solid_state(system: System) -> bool | None:
    """Whether the data lies on disks without moving parts; None: not known, as of a hypervisor's disks."""
    kinds = data_disk_kinds(system)
    if kinds is None or "virtual" in kinds:
        return None
    return "rotating" not in kinds


_MANY = 8


def pool_bytes(system: System, targets: Targets) -> int | None:
    """The pool as advised, or as it is."""
    return targets.buffer_pool_bytes or system.server.number("innodb_buffer_pool_size")


def instances_advised(system: System, pool_bytes: int) -> int | None:
    """For a pool of this size; None: MariaDB has only one, or it is not known.

    MySQL's manual wants 1G or more for each part. Below 8.4, whose own default follows size and CPUs, 8 is
    the default for any pool of 1G. More than that are left alone: they cost little, and the sizes that the
    pool can have depend on their number.
    """
    server = system.server
    now = server.number("innodb_buffer_pool_instances")
    if now is None or server.release.is_mariadb:
        return None
    cpus = system.host.cpu.count if system.host else 0
    large = pool_bytes >= _MANY * GIB and cpus >= _MANY
    if now == 1 and large and is_mysql(server.release, (5, 6, 0), (8, 4, 0)):
        return _MANY
    return now
