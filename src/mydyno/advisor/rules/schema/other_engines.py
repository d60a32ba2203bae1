"""Tables of engines that lose something: MEMORY, Aria without transactions, BLACKHOLE, CSV, ARCHIVE.

MEMORY tables are empty after a restart. Aria (MariaDB) survives a crash of the server statement by
statement, but has no transactions. ARCHIVE and CSV have hardly any indexes, BLACKHOLE stores nothing. Each
has its use; in a cluster none of them is copied to the other nodes. Engines that keep transactions, as
RocksDB does, are not included.
"""

from mydyno.advisor.rules import *

_LOSING = frozenset({"MEMORY", "Aria", "BLACKHOLE", "CSV", "ARCHIVE", "MRG_MYISAM"})


@Rule(
    checks="user tables of engines without transactions, except MyISAM",
    why="Their rows are lost at restarts, or are not part of transactions, or not in the cluster.",
    expected="rows that survive restarts, are part of transactions and are replicated",
    durability="raises, for converted tables",
    risk="ARCHIVE and CSV tables grow; MEMORY tables become slower to write",
    sources=(
        "MySQL Reference Manual, Alternative Storage Engines",
        "MariaDB Documentation, Storage Engines; MariaDB Galera Cluster - Known Limitations",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    schema = require(server.schema_facts, "the schema was not read")
    tables_by_engine = require(schema.tables_by_engine, "the schema was not read")
    counts = {engine: number for engine, number in tables_by_engine.items() if engine in _LOSING}
    if not counts:
        return Fine("no table has such an engine")
    names = [table.name for table in schema.other_engines or () if table.engine in _LOSING]
    cluster = server.role.galera or server.role.group_replication
    engines = ", ".join(f"{number} {engine}" for engine, number in sorted(counts.items()))
    return finding(
        title=f"{counted(sum(counts.values()), 'table', 'is')} of engines without transactions: {engines}",
        evidence=(first(names), "the cluster does not copy them" if cluster else None),
        recommendation="convert those whose content matters to InnoDB",
        changes=by_hand(
            "convert tables whose content matters to InnoDB, at a quiet time",
            *tuple(f"ALTER TABLE {quoted(name)} ENGINE=InnoDB;" for name in names[:SHOWN]),
        ),
        severity=Severity.HIGH if cluster else Severity.LOW,
        effect=better("safety", "medium" if cluster else "small"),
    )
