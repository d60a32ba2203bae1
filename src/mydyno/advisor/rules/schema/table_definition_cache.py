"""How many definitions of tables the server keeps, one each whatever the number of connections.

A definition that fell out is read from the dictionary (or its .frm file) for the next statement that names
the table, and with it InnoDB's statistics. Servers with a schema for each customer outgrow the default.
"""

from mydyno.advisor.rules import *

_NAME = "table_definition_cache"


def _judge(system: System, targets: Targets) -> Judgement:
    server = system.server
    now, wanted = server.number(_NAME), targets.table_definition_cache
    if now is None or wanted is None:
        return Unknown(f"{_NAME} or Open_table_definitions")
    changes = settings(server, {_NAME: wanted})
    opened = often(server, "Opened_table_definitions")
    if not changes:
        return Fine(f"{now} definitions are kept, {a_second(opened)} are read anew")
    return RULE.finding(
        title=f"{a_second(opened)} definitions of tables are read anew: {now} are kept",
        evidence=targets.table_lines,
        recommendation=f"set {_NAME} to {wanted}",
        changes=changes,
        severity=Severity.LOW,
        effect=better("latency", "small", f"up to {a_second(opened)} fewer reads of the dictionary"),
        risk="some kilobytes of memory for each definition",
    )


RULE = Rule(
    checks="table_definition_cache against open definitions and the rate at which they are read",
    why="A definition that fell out is read again, with the table's statistics.",
    expected="shorter first statements on many tables",
    risk="a little memory",
    sources=(
        "MySQL Reference Manual, Server System Variables, table_definition_cache",
        "MariaDB Documentation, Server System Variables, table_definition_cache",
    ),
    judge=_judge,
    variables=(_NAME,),
)
