"""What several InnoDB rules read of a server: its redo log, its buffer pool, its disks. None: not known."""

from __future__ import annotations

from mydyno.core.server_version import Version
from mydyno.facts import Server, System

MIB = 1 << 20
GIB = 1 << 30

# A full redo log stops all changes; InnoDB writes pages at any price from about here on (MySQL's
# log0chkp: 7/8 of the capacity less a reserve).
_SYNCHRONOUS_FLUSHING = 7 / 8


def is_mysql(
    release: Version, since: tuple[int, int, int], before: tuple[int, int, int] | None = None
) -> bool:
    """Whether it is a MySQL (or Percona Server) of `since` or later, and older than `before`."""
    return (
        not release.is_mariadb and since <= release.numbers and (before is None or release.numbers < before)
    )


def is_mariadb(
    release: Version, since: tuple[int, int, int], before: tuple[int, int, int] | None = None
) -> bool:
    return release.is_mariadb and since <= release.numbers and (before is None or release.numbers < before)


def redo_capacity(server: Server) -> int | None:
    """Bytes of the whole redo log.

    Since MySQL 8.0.30 a status variable knows it best: as long as innodb_redo_log_capacity is not set,
    what an older option file says of innodb_log_file_size counts (MySQL Reference Manual, "Redo Log").
    """
    resized = server.counter("Innodb_redo_log_capacity_resized")
    if server.has("innodb_redo_log_capacity"):
        return int(resized) if resized else server.number("innodb_redo_log_capacity")
    size, files = server.number("innodb_log_file_size"), server.number("innodb_log_files_in_group")
    return None if size is None else size * max(files or 1, 1)


def redo_rate(server: Server) -> float | None:
    """Bytes of redo a second: the larger of the interval's rate and the mean since the server's start."""
    names = ("Innodb_redo_log_current_lsn", "Innodb_lsn_current", "Innodb_os_log_written")
    rates = [rate for name in names if (rate := server.rate(name)) is not None][:1]
    mean = server.average("Innodb_os_log_written")
    return max([*rates, *([] if mean is None else [mean])], default=None)


def checkpoint_age(server: Server) -> tuple[float, float] | None:
    """Bytes of redo that recovery would need now, and how many there may be before changes have to wait."""
    age = server.counter("Innodb_checkpoint_age")
    if age is not None and (most := server.counter("Innodb_checkpoint_max_age")):
        return age, most
    written = server.counter("Innodb_redo_log_current_lsn")
    kept = server.counter("Innodb_redo_log_checkpoint_lsn")
    capacity = redo_capacity(server)
    if written is not None and kept is not None:
        age = written - kept
    elif server.innodb is not None and server.innodb.checkpoint_age_bytes is not None:
        age = float(server.innodb.checkpoint_age_bytes)
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
    disks = storage.disks_of(storage.of("data"))
    kinds = [disk.kind for disk in disks]
    return frozenset(kind for kind in kinds if kind) if kinds and all(kinds) else None


def solid_state(system: System) -> bool | None:
    """Whether the data lies on disks without moving parts; None: not known, as of a hypervisor's disks."""
    kinds = data_disk_kinds(system)
    if kinds is None or "virtual" in kinds:
        return None
    return "rotating" not in kinds


def pages_flushed(server: Server) -> float | None:
    """Pages written to data files, each second: the larger of the interval's rate and the mean."""
    found = [
        server.rate("Innodb_buffer_pool_pages_flushed"),
        server.average("Innodb_buffer_pool_pages_flushed"),
    ]
    return max((each for each in found if each is not None), default=None)
