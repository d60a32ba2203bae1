"""The number of table cache instances, each with its own lock.

Each statement takes a table from the cache and returns it under the lock of its instance. With one
instance, the default of MySQL 5.6, many CPUs wait for that lock; the manual advises 8 or 16 for 16 cores
and more. MySQL 5.7.8 and later have 16, MariaDB adds instances under contention.
"""

from mydyno.advisor.rules import *

_NAME = "table_open_cache_instances"
_CPUS = 8
_FEW = 8
_WANTED = 16


@Rule(
    checks="table_open_cache_instances on machines with many CPUs (MySQL)",
    why="Every statement takes the lock of a table cache instance twice.",
    expected="less waiting for one lock with many short statements on many CPUs",
    sources=("MySQL Reference Manual, Server System Variables, table_open_cache_instances",),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.number(_NAME)
    if server.release.is_mariadb:
        return NotHere("MariaDB adds instances by itself")
    if now is None or system.host is None:
        return Unknown(f"{_NAME} or the number of CPUs")
    cpus = system.host.cpu.count
    if now >= _FEW or cpus < _CPUS:
        return Fine(f"{now} on {cpus} CPUs")
    return finding(
        title=f"{cpus} CPUs share {now} lock{'s' if now > 1 else ''} of the cache of open tables",
        evidence=(f"{_NAME} = {now}, {cpus} CPUs; the default is {_WANTED} since MySQL 5.7.8",),
        recommendation=f"set {_NAME} to {_WANTED}",
        changes=settings(server, {_NAME: _WANTED}),
        effect=better("throughput", "small"),
        restart=True,
    )
