"""The buffer pool's parts, and the steps that its size is counted in."""

from __future__ import annotations

from mydyno.advise.innodb import GIB, MIB, is_mariadb, is_mysql
from mydyno.facts import System

_CHUNK = 128 * MIB
_EXTENT_STEP = 8 * MIB
"""Of MariaDB's pool since 10.11.12, on 64-bit machines."""
_MANY = 8
_MOST = 64


def instances_advised(system: System, pool_bytes: int) -> int | None:
    """Into how many parts a pool of this size should be cut; None: this release decides or has only one.

    MySQL's manual wants 1G or more for each part; below 8.4, whose own default follows the size, 8 is the
    default for any pool of 1G, and what its measurements were made with.
    """
    server = system.server
    now = server.number("innodb_buffer_pool_instances")
    if now is None or server.release.is_mariadb:
        return None
    cpus = system.host.cpu.count if system.host else 0
    if (
        now == 1
        and pool_bytes >= _MANY * GIB
        and cpus >= _MANY
        and is_mysql(server.release, (5, 6, 0), (8, 4, 0))
    ):
        return _MANY
    if now > _MANY and pool_bytes // now < GIB:
        return max(1, min(_MANY, pool_bytes // GIB))
    return now


def whole_steps(system: System, wanted: int) -> int:
    """The size that the server would really take, at most `wanted` where that is one step or more.

    MySQL since 5.7.5 rounds up to a multiple of chunk x instances (Reference Manual, "Configuring InnoDB
    Buffer Pool Size"), and would so take more memory than was counted.
    """
    step = _step(system, wanted)
    return max(wanted // step * step, step)


def _step(system: System, wanted: int) -> int:
    server = system.server
    if is_mariadb(server.release, (10, 11, 12)):
        return _EXTENT_STEP
    chunk = server.number("innodb_buffer_pool_chunk_size") or _CHUNK
    if server.release.is_mariadb:
        return chunk if server.number("innodb_buffer_pool_chunk_size") else MIB
    if not server.has("innodb_buffer_pool_chunk_size"):
        return 64 * MIB
    return chunk * _instances_at_start(system, wanted, chunk)


def _instances_at_start(system: System, wanted: int, chunk: int) -> int:
    """How many parts there may be after the next start: where nobody asks, they come with the size."""
    advised = instances_advised(system, wanted) or 1
    if wanted < GIB:
        return advised
    if is_mysql(system.server.release, (8, 4, 0)):
        cpus = system.host.cpu.count if system.host else 0
        return max(advised, min(wanted // chunk // 2, cpus // 4, _MOST))
    return max(advised, _MANY)
