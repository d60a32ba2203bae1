"""What the server may take of memory at most, from its variables in force or as they would be.

Everything at once and to the full is more than any real load takes; it is the sum that keeps a server alive
on its worst day (MySQL Reference Manual, "How MySQL Uses Memory"). Beyond what the catalogue's variables say:

- the buffer pool's control structures, a tenth of it (ibid., innodb_buffer_pool_size);
- performance_schema, on or off, since switching it on is advised elsewhere and must not upset the sum;
- temporary tables in memory, one for each tenth of the connections that were in use at most;
- the program itself, its dictionary and caches of tables.

The last two are rounded up from the resident memory of idle servers with their defaults: MySQL 9.7 has 248M
less without performance_schema and then 250M besides the pool, MySQL 5.6 450M in all, MariaDB 10.11 98M
and 80M.
"""

from collections.abc import Mapping

from mydyno.advisor.targets.steps import MIB
from mydyno.advisor.targets.temporary import at_a_time, size_now
from mydyno.server.variables import catalogue
from mydyno.server.variables.memory import MemorySum
from mydyno.server.variables.release import Family
from mydyno.survey.facts import Server

POOL = "innodb_buffer_pool_size"
OVERHEAD = 0.1
_ITSELF = {Family.MYSQL: 256 * MIB, Family.MARIADB: 96 * MIB}
_INSTRUMENTS = {Family.MYSQL: 256 * MIB, Family.MARIADB: 128 * MIB}
_DEFAULT_CONNECTIONS = 151
_CONDITIONS = {"replica_pending_jobs_size_max": "replica", "binlog_file_cache_size": "log_bin"}


def budget(server: Server, chosen: Mapping[str, int]) -> MemorySum:
    """The sum with `chosen` values in place of those in force; `temporary tables` is the size of one."""

    def number(name: str) -> int | None:
        return chosen[name] if name in chosen else server.number(name)

    def sizes(names: tuple[str, ...]) -> list[tuple[str, int]]:
        values = ((name, number(name)) for name in names if server.has(name) and _counts(server, name))
        return [(name, size) for name, size in values if size is not None and size > 0]

    family = Family.of(server.release)
    once = sizes(catalogue().of_memory("once"))
    pool = number(POOL)
    if pool:
        after_it = next(place for place, (name, _) in enumerate(once, start=1) if name == POOL)
        once.insert(after_it, ("its control structures", int(pool * OVERHEAD)))
    if server.switch("performance_schema") is not None:
        once.append(("performance_schema", _INSTRUMENTS[family]))
    once.append(("the program itself", _ITSELF[family]))
    one = chosen.get("temporary tables", size_now(server))
    if one is not None:
        count = at_a_time(server)
        once.append((f"temporary tables, {count:g} at a time", int(count * one)))
    each = sizes(catalogue().of_memory("each connection"))
    if server.switch("log_bin"):
        each += sizes(catalogue().of_memory("each transaction"))
    limit = number("max_connections")
    return MemorySum(tuple(once), tuple(each), _DEFAULT_CONNECTIONS if limit is None else limit)


def _counts(server: Server, name: str) -> bool:
    match _CONDITIONS.get(name):
        case "replica":
            return server.role.replica is not False
        case "log_bin":
            return server.switch("log_bin") is True
        case _:
            return True
