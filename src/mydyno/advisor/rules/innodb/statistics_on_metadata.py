"""Whether looking at a table's description makes InnoDB sample its statistics.

With innodb_stats_on_metadata, SHOW TABLE STATUS and queries of information_schema (monitoring, backup tools,
ORMs at their start) read pages of every table and may change the plans of queries that run. Off by default
since MySQL 5.6.6 and MariaDB 10.0.
"""

from __future__ import annotations

from mydyno.advisor.rule import Fine, Judgement, Rule, Unknown
from mydyno.advisor.setting import settings
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.survey.facts import System

_NAME = "innodb_stats_on_metadata"


def _judge(system: System, _: Targets) -> Judgement:
    on = system.server.switch(_NAME)
    if on is None:
        return Unknown(_NAME)
    if not on:
        return Fine(f"{_NAME} is OFF")
    schema = system.server.schema_facts
    return Finding(
        rule=RULE.id,
        title="Looking at information_schema makes InnoDB read pages of every table",
        evidence=(f"{_NAME} = ON", *((f"{schema.tables:,} tables",) if schema else ())),
        recommendation=f"set {_NAME} to OFF, the default",
        changes=settings(system.server, {_NAME: "OFF"}),
        severity=Severity.MEDIUM,
        effect=Effect(
            aspect="latency",
            direction="better",
            size="small",
            says="monitoring costs less, and does not change the plans of queries",
        ),
    )


RULE = Rule(
    id="statistics-on-metadata",
    layer="tables",
    checks="innodb_stats_on_metadata",
    why="A look at the catalogue should not read the data.",
    expected="faster metadata queries, stable plans",
    durability="none",
    risk="none known",
    sources=('MySQL Reference Manual, "Optimizing INFORMATION_SCHEMA Queries"',),
    judge=_judge,
    variables=(_NAME,),
)
