"""Indexes that are the beginning of another index of the same table.

Whatever an index on (a) answers, one on (a, b) answers as well, a little larger. Keeping both costs every
write twice. An exception is an index that is much smaller and scanned as a whole, so look at the queries
first where the longer one is very long.
"""

from __future__ import annotations

from mydyno.advisor.names import SHOWN, counted, first, quoted
from mydyno.advisor.rule import Fine, Judgement, Rule, Unknown
from mydyno.advisor.targets import Targets
from mydyno.apply.change import ByHand
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.survey.facts import System


def _judge(system: System, _: Targets) -> Judgement:
    schema = system.server.schema_facts
    if schema is None or schema.redundant_indexes is None:
        return Unknown("the schema was not looked at")
    found = schema.redundant_indexes
    if not found:
        return Fine("no index is the beginning of another")
    return Finding(
        rule=RULE.id,
        title=f"{counted(len(found), 'index', 'is')} the beginning of another",
        evidence=(
            first(
                [
                    f"{index.table}.{index.name} ({', '.join(index.columns)}) by {index.covered_by}"
                    for index in found
                ]
            ),
        ),
        recommendation="drop the shorter ones",
        changes=(
            ByHand(
                says="drop indexes that another one covers",
                commands=tuple(
                    f"ALTER TABLE {quoted(index.table)} DROP INDEX {quoted(index.name)};"
                    for index in found[:SHOWN]
                ),
            ),
        ),
        severity=Severity.LOW,
        effect=Effect(
            aspect="throughput",
            direction="better",
            size="small",
            says="each write of these tables changes one index less",
        ),
        risk="statements that name the index (FORCE INDEX) fail",
    )


RULE = Rule(
    id="redundant-indexes",
    layer="schema",
    checks="indexes whose columns another index of the table begins with",
    why="Both are kept up by every write, and one would do.",
    expected="cheaper writes, less space",
    durability="none",
    risk="hints that name the index fail",
    sources=(
        "MySQL Reference Manual, The schema_redundant_indexes View; Multiple-Column Indexes",
        "MariaDB Documentation, Getting Started with Indexes",
    ),
    judge=_judge,
)
