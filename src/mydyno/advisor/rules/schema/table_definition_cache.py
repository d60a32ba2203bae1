"""How many table definitions the server caches, one for each table.

An evicted definition is read from the dictionary (or its .frm file) for the next statement that names the
table, and with it InnoDB's statistics. Servers with a schema for each customer outgrow the default.
"""

from mydyno.advisor.rules import *

_NAME = "table_definition_cache"


@Rule(
    checks="table_definition_cache compared with open definitions and the rate at which they are read",
    why="An evicted definition is read again, with the table's statistics.",
    expected="faster first statements on many tables",
    risk="a few kilobytes of memory for each definition",
    sources=(
        "MySQL Reference Manual, Server System Variables, table_definition_cache",
        "MariaDB Documentation, Server System Variables, table_definition_cache",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    wanted = require(targets.table_definition_cache, "Open_table_definitions")
    changes = settings(server, {_NAME: wanted})
    opened = often(server, "Opened_table_definitions")
    if not changes:
        return Fine(f"{now} definitions are cached, {a_second(opened)} are read again")
    return finding(
        title=f"{a_second(opened)} table definitions are read again: {now} are cached",
        evidence=targets.table_lines,
        recommendation=f"set {_NAME} to {wanted}",
        changes=changes,
        effect=better("latency", "small", f"up to {a_second(opened)} fewer reads of the dictionary"),
    )
