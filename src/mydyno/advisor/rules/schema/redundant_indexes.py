"""Indexes that are a prefix of another index of the same table.

An index on (a, b) serves every query that one on (a) serves, being a little larger. Keeping both costs
every write twice. An exception is an index that is much smaller and scanned as a whole, so look at the
queries first where the longer one is very long.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="indexes whose columns another index of the table begins with",
    why="Both are maintained by every write, and one would be enough.",
    expected="each write of such tables changes one fewer index; less space",
    risk="statements that name the index (FORCE INDEX) fail",
    sources=(
        "MySQL Reference Manual, The schema_redundant_indexes View; Multiple-Column Indexes",
        "MariaDB Documentation, Getting Started with Indexes",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    schema = require(system.server.schema_facts, "the schema was not read")
    redundant = require(schema.redundant_indexes, "the schema was not read")
    if not redundant:
        return Fine("no index is a prefix of another")
    return finding(
        title=f"{counted(len(redundant), 'index', 'is')} a prefix of another",
        evidence=(
            first(
                [
                    f"{index.table}.{index.name} ({', '.join(index.columns)}) by {index.covered_by}"
                    for index in redundant
                ]
            ),
        ),
        recommendation="drop the shorter ones",
        changes=by_hand(
            "drop indexes that another one covers",
            *tuple(
                f"ALTER TABLE {quoted(index.table)} DROP INDEX {quoted(index.name)};"
                for index in redundant[:SHOWN]
            ),
        ),
        effect=better("throughput", "small"),
    )
