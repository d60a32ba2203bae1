"""Tables of MyISAM.

A crash corrupts them: rows half written, indexes that do not match, and a repair that takes hours and may
lose rows. There is no transaction to roll back. A writer locks the whole table against all others. A backup
must lock them to be consistent. InnoDB has none of these problems, and since MySQL 5.6 and MariaDB 10.0 has
full-text and spatial indexes too.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="user tables with the engine MyISAM",
    why="MyISAM has no crash recovery, no transactions and only table locks.",
    expected="tables that survive a crash, and writers that no longer lock whole tables",
    durability="raises: committed changes survive a crash once they are in InnoDB",
    risk="InnoDB takes more space, and COUNT(*) without WHERE reads an index",
    sources=(
        "MySQL Reference Manual, Converting Tables from MyISAM to InnoDB",
        "MariaDB Documentation, Converting Tables from MyISAM to InnoDB",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    schema = require(server.schema_facts, "the schema was not read")
    tables_by_engine = require(schema.tables_by_engine, "the schema was not read")
    number = tables_by_engine.get("MyISAM", 0)
    if not number:
        return Fine("no user table is MyISAM")
    names = [table.name for table in schema.other_engines or () if table.engine == "MyISAM"]
    size = (schema.bytes_by_engine or {}).get("MyISAM")
    waited = share(server.counter("Table_locks_waited"), server.counter("Table_locks_immediate"))
    return finding(
        title=f"{counted(number, 'table', 'is')} MyISAM, which a crash corrupts",
        evidence=(
            f"{format_bytes(size)} of data" if size is not None else None,
            first(names),
            f"{waited:.1%} of the table locks had to wait" if waited is not None else None,
        ),
        recommendation="convert them to InnoDB",
        changes=by_hand(
            "convert tables to InnoDB at a quiet time: each ALTER copies and locks its table",
            *tuple(f"ALTER TABLE {quoted(name)} ENGINE=InnoDB;" for name in names[:SHOWN]),
        ),
        severity=Severity.HIGH,
        effect=better("safety", "large"),
    )
