"""How many open tables the server keeps.

Each connection that uses a table needs its own handler, so a join of three tables in a hundred connections
takes three hundred. One that is not in the cache is opened: a file, its definition, a global lock in old
releases. Opened_tables says how often that happens; when the cache is full and that happens all the time,
the cache is too small.
"""

from mydyno.advisor.rules import *

_NAME = "table_open_cache"


@Rule(
    checks="table_open_cache compared with open tables and the rate at which tables are opened",
    why="A table that is not in the cache is reopened for the statement.",
    expected="faster statements where tables are opened all the time; otherwise no effect",
    risk="two files each for MyISAM and Aria; rule open-files-limit counts them",
    sources=(
        "MySQL Reference Manual, How MySQL Opens and Closes Tables",
        "MariaDB Documentation, Optimizing table_open_cache",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    wanted = require(targets.table_open_cache, "Open_tables")
    changes = settings(server, {_NAME: wanted})
    opened = often(server, "Opened_tables")
    if not changes:
        lines = "; ".join(targets.table_lines)
        return Fine(f"{now} tables may stay open, {a_second(opened)} are reopened; {lines}")
    evidence = list(targets.table_lines)
    misses, overflows = (
        server.counter("Table_open_cache_misses"),
        server.counter("Table_open_cache_overflows"),
    )
    if misses is not None and overflows is not None:
        evidence.append(f"{misses:.0f} misses and {overflows:.0f} overflows of the cache since the start")
    heavy = opened is not None and opened >= 100
    return finding(
        title=f"{a_second(opened)} tables are reopened: {now} may stay open",
        evidence=tuple(evidence),
        recommendation=f"set {_NAME} to {wanted}",
        changes=changes,
        severity=Severity.MEDIUM if heavy else Severity.LOW,
        effect=better(
            "latency", "medium" if heavy else "small", f"up to {a_second(opened)} fewer opens of tables"
        ),
    )
