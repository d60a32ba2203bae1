"""Tables of MyISAM.

A crash leaves them torn: rows half written, indexes that do not match, and a repair that takes hours and
may lose rows. There is no transaction to roll back. A writer locks the whole table against all others. A
backup must lock them to be consistent. InnoDB has none of these, and since MySQL 5.6 and MariaDB 10.0
full-text and spatial indexes, too.
"""

from mydyno.advisor.rules import *


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    schema = server.schema_facts
    if schema is None or schema.tables_by_engine is None:
        return Unknown("the schema was not looked at")
    number = schema.tables_by_engine.get("MyISAM", 0)
    if not number:
        return Fine("no table of a user's is MyISAM")
    found = [table.name for table in schema.other_engines or () if table.engine == "MyISAM"]
    size = (schema.bytes_by_engine or {}).get("MyISAM")
    waited = share(server.counter("Table_locks_waited"), server.counter("Table_locks_immediate"))
    return RULE.finding(
        title=f"{counted(number, 'table', 'is')} MyISAM, which a crash tears",
        evidence=(
            *((f"{format_bytes(size)} in them",) if size is not None else ()),
            first(found),
            *((f"{waited:.1%} of the locks of tables had to wait",) if waited is not None else ()),
        ),
        recommendation="move them to InnoDB",
        changes=by_hand(
            "move tables to InnoDB at a quiet time: each ALTER copies and locks its table",
            *tuple(f"ALTER TABLE {quoted(name)} ENGINE=InnoDB;" for name in found[:SHOWN]),
        ),
        severity=Severity.HIGH,
        effect=better(
            "safety", "large", "these tables survive a crash, and writers no longer lock whole tables"
        ),
        risk="InnoDB takes more space, and COUNT(*) without WHERE reads an index",
    )


RULE = Rule(
    checks="user tables of the engine MyISAM",
    why="MyISAM knows no crash recovery, no transactions and only locks of whole tables.",
    expected="safety; more throughput with several writers",
    durability="raises: committed changes survive a crash once they are in InnoDB",
    risk="more space; the ALTER locks the table",
    sources=(
        "MySQL Reference Manual, Converting Tables from MyISAM to InnoDB",
        "MariaDB Documentation, Converting Tables from MyISAM to InnoDB",
    ),
    judge=_judge,
)
