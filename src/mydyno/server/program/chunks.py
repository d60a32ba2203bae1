"""A buffer pool in the whole chunks that a server counts it in. Pure.

Who writes `25% of memory`, or a range for a search, means about so much. Servers that resize the pool in
chunks round it up, to a multiple of chunk and instances (MySQL 8.4 Reference Manual, "Configuring InnoDB
Buffer Pool Size"); then what is in force would not be what was configured. MariaDB counts in chunks from 10.2
to 10.7, MySQL since 5.7.
"""

from collections.abc import Mapping

from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Version
from mydyno.server.program.binary import ServerBinary
from mydyno.server.variables.settings import number

POOL = "innodb_buffer_pool_size"
_CHUNK, _INSTANCES = "innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances"
_GIBIBYTE = 1024**3


def in_whole_chunks(binary: ServerBinary, configured: Mapping[str, Setting], size: int, cpus: int) -> int:
    """What this server makes of a pool of `size` bytes with the settings `configured`, with so many CPUs."""
    step = _step(binary, configured, size, cpus)
    return -(-size // step) * step


def largest_within(binary: ServerBinary, configured: Mapping[str, Setting], size: int, cpus: int) -> int:
    """The largest pool of at most `size` bytes that this server has as it was configured."""
    step = _step(binary, configured, size, cpus)
    return size // step * step


def _step(binary: ServerBinary, configured: Mapping[str, Setting], size: int, cpus: int) -> int:
    """What a pool of about `size` is a multiple of."""
    chunk = _whole(configured.get(_CHUNK, binary.options.get(_CHUNK)))
    wanted = _whole(configured.get(_INSTANCES, binary.options.get(_INSTANCES)))
    step = chunk * (wanted or _instances(binary.version, size, chunk, cpus)) if chunk else 1
    # A pool smaller than one step gets smaller chunks instead.
    return step if size >= step else 1


def _instances(version: Version, size: int, chunk: int, cpus: int) -> int:
    """How many instances a server has by default (MySQL Reference Manual, the variable's own entry)."""
    if version.is_mariadb and version.numbers >= (10, 5, 1):
        return 1
    if version.is_mariadb or version.numbers < (8, 4, 0):
        return 8 if size >= _GIBIBYTE else 1
    return 1 if size <= _GIBIBYTE else max(1, min(size // chunk // 2, cpus // 4, 64))


def _whole(value: Setting | None) -> int:
    return int(number(str(value)) or 0) if value is not None else 0
