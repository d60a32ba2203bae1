"""How large the buffer pool may be and need be, and what servers round it to.

MySQL rounds to innodb_buffer_pool_chunk_size x innodb_buffer_pool_instances (MySQL Reference Manual,
"Configuring InnoDB Buffer Pool Size") since 5.7, MariaDB to its chunk, since 10.11.12 to 1M (Documentation,
"InnoDB Buffer Pool"). From 1G on MySQL may start with eight instances whatever runs now.
"""

import math

from mydyno.advisor.targets.steps import MIB, up_to
from mydyno.survey.facts import System

LEAST = 128 * MIB
"""The default chunk, and the smallest pool that is advised."""
_INSTANCES = 8
_SEVERAL_FROM = 1024 * MIB
_GROWTH = 1.25
"""How much the data may grow before the pool is looked at again."""
_FULL = 0.05
"""With a smaller part of it free, the pool is full: the data needs at least as much."""


def unit(system: System, size: int) -> int:
    """What a pool of about `size` bytes is rounded to."""
    server = system.server
    chunk = max(LEAST, server.number("innodb_buffer_pool_chunk_size") or 0)
    instances = server.number("innodb_buffer_pool_instances") or 1
    if server.release.is_mariadb or not server.has("innodb_buffer_pool_chunk_size"):
        return chunk
    if size < _SEVERAL_FROM:
        return chunk * max(1, instances)
    together = math.lcm(max(1, instances), _INSTANCES)
    return chunk * (together if together <= 64 else max(1, instances))


def data_bytes(system: System) -> tuple[int, str] | None:
    """How much InnoDB has to keep in memory at most, and where that is from. None: more than the pool, or
    not known."""
    server, schema = system.server, system.server.schema_facts
    if schema is not None and schema.innodb_bytes is not None:
        return schema.innodb_bytes, "tables and indexes of InnoDB"
    total = server.counter("Innodb_buffer_pool_pages_total")
    free = server.counter("Innodb_buffer_pool_pages_free")
    if not total or free is None or free / total < _FULL:
        return None
    page = server.number("innodb_page_size") or 16384
    return int((total - free) * page), "pages of the buffer pool in use"


def most_useful(system: System) -> int | None:
    """The pool that takes all of the data with room to grow; None: as much as there is."""
    data = data_bytes(system)
    if data is None:
        return None
    wanted = data[0] * _GROWTH
    return max(LEAST, up_to(wanted, unit(system, int(wanted))))
