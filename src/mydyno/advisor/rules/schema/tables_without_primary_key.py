"""InnoDB tables without a primary key.

InnoDB orders a table by its primary key. Without one it adds a hidden key of six bytes, numbered from a
counter that all such tables of the server share, under one lock. No query can use it. A replica that
replays rows must search the whole table for each changed row, so one DELETE of a million rows takes days;
and Galera does not support DELETE on them at all. Tools that work in steps (online schema changes,
archivers) need a key as well.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="user tables without a primary key",
    why="Without a key, replicas find each row by searching the whole table.",
    expected="replicas that keep up with bulk changes; smaller secondary indexes with a short key",
    risk="INSERT statements without a list of columns fail unless the new column is invisible",
    sources=(
        "MySQL Reference Manual, Clustered and Secondary Indexes; Generated Invisible Primary Keys",
        "MariaDB Documentation, MariaDB Galera Cluster - Known Limitations",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    role = server.role
    schema = require(server.schema_facts, "the schema was not read")
    tables = require(schema.without_primary_key, "the schema was not read")
    if not tables:
        return Fine(f"each of {schema.tables} tables has a primary key")
    copied = role.replica or role.source or role.galera or role.group_replication
    return finding(
        title=f"{counted(len(tables), 'table', 'has')} no primary key",
        evidence=(
            first([table.name for table in tables]),
            "their rows are replicated: a replica searches the table for each of them" if copied else None,
        ),
        recommendation="add a primary key to each: an existing unique column, or a new invisible one",
        changes=by_hand(
            "add primary keys, at a quiet time: each ALTER copies its table",
            *tuple(_statement(server, table.name) for table in tables[:SHOWN]),
        ),
        severity=Severity.HIGH if copied else Severity.MEDIUM,
        effect=better(
            "stability" if copied else "throughput",
            "large" if copied else "small",
            "replicas find changed rows by their key"
            if copied
            else "rows are stored in the order of a key that queries can use",
        ),
    )


def _statement(server: Server, table: str) -> str:
    release = server.release
    hidden = release.numbers >= ((10, 3, 3) if release.is_mariadb else (8, 0, 23))
    return (
        f"ALTER TABLE {quoted(table)} ADD COLUMN my_row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT"
        f"{' INVISIBLE' if hidden else ''}, ADD PRIMARY KEY (my_row_id);"
    )
