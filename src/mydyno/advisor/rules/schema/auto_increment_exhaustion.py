"""Counters of AUTO_INCREMENT columns that come near the end of their type.

A signed INT ends at 2147483647. The next INSERT fails with a duplicate key (error 1062 or 167), and with it
the application: only another column type helps, and changing it on a large table takes hours. Deleted rows
and failed inserts use numbers up as well.
"""

from mydyno.advisor.rules import *

_NEAR = 0.7
_URGENT = 0.9


@Rule(
    checks="how much of their range AUTO_INCREMENT columns have used up",
    why="At the end of the range every INSERT fails.",
    expected="inserts do not fail at the end of the range; no effect on speed",
    risk="a long ALTER; clients that store the value in 32 bits",
    sources=(
        "MySQL Reference Manual, The schema_auto_increment_columns View; Using AUTO_INCREMENT",
        "MariaDB Documentation, AUTO_INCREMENT",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    schema = require(system.server.schema_facts, "the schema was not read")
    nearly_full_counters = require(schema.nearly_full_counters, "the schema was not read")
    tables = sorted(
        (table for table in nearly_full_counters if (table.auto_increment_used or 0) >= _NEAR),
        key=lambda table: -(table.auto_increment_used or 0),
    )
    if not tables:
        return Fine(f"no counter has used {_NEAR:.0%} of its range")
    most = tables[0].auto_increment_used or 0
    return finding(
        title=f"The counter of {tables[0].name} has used {most:.0%} of its range",
        evidence=tuple(
            f"{table.name}: {table.auto_increment_used:.1%} used, about {table.rows or 0} rows"
            for table in tables[:SHOWN]
        ),
        recommendation="change these columns, and those that refer to them, to BIGINT UNSIGNED in time",
        changes=by_hand(
            "look at each table, then change the type of its AUTO_INCREMENT column and of the"
            " columns that refer to it to BIGINT UNSIGNED; the ALTER copies the table",
            *tuple(f"SHOW CREATE TABLE {quoted(table.name)};" for table in tables[:SHOWN]),
        ),
        severity=Severity.CRITICAL if most >= _URGENT else Severity.HIGH,
        effect=better("stability", "large"),
    )
