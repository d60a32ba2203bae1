"""Tables whose files are partly empty.

Rows that were deleted leave pages half empty or free inside the table's file; InnoDB uses them again for
the same table, so a table that will grow again needs nothing. After a large clean-up the file stays large:
the space is not returned, backups take longer, scans read half-empty pages. Rebuilding the table rewrites
it.
"""

from mydyno.advisor.rules import *

_WORTH = 1 << 30
"""Free bytes in all of them together."""


@Rule(
    checks="free space inside the files of tables",
    why="After large deletes a table's file stays as large as it was.",
    expected="disk space; faster scans of these tables",
    risk="it reads and writes the whole table, and replicas repeat it",
    sources=(
        "MySQL Reference Manual, Defragmenting a Table; OPTIMIZE TABLE Statement",
        "MariaDB Documentation, OPTIMIZE TABLE",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    schema = require(system.server.schema_facts, "the schema was not read")
    fragmented = require(schema.fragmented, "the schema was not read")
    tables = sorted(fragmented, key=lambda table: -(table.free_bytes or 0))
    free = sum(table.free_bytes or 0 for table in tables)
    if free < _WORTH:
        return Fine(f"less than {format_bytes(_WORTH)} is free inside tables with much free space")
    return finding(
        title=f"{format_bytes(free)} of the files of {counted(len(tables), 'table')} are empty",
        evidence=tuple(
            f"{table.name}: {format_bytes(table.free_bytes or 0)} free,"
            f" {format_bytes((table.data_bytes or 0) + (table.index_bytes or 0))} in use"
            for table in tables[:SHOWN]
        ),
        recommendation="rebuild tables that will not grow again, at a quiet time",
        changes=by_hand(
            "rebuild tables with much free space; each needs space for a copy",
            *tuple(f"OPTIMIZE TABLE {quoted(table.name)};" for table in tables[:SHOWN]),
        ),
        effect=better(
            "disk space",
            "medium",
            f"up to {format_bytes(free)} are returned to the file system; scans read fewer pages",
        ),
    )
