"""Whether looking at a table's description makes InnoDB sample its statistics.

With innodb_stats_on_metadata, SHOW TABLE STATUS and queries of information_schema (monitoring, backup tools,
ORMs at their start) read pages of every table and may change the plans of queries that run. Off by default
since MySQL 5.6.6 and MariaDB 10.0.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_stats_on_metadata"


def _judge(system: System, _: Targets) -> Judgement:
    on = system.server.switch(_NAME)
    if on is None:
        return Unknown(_NAME)
    if not on:
        return Fine(f"{_NAME} is OFF")
    schema = system.server.schema_facts
    return RULE.finding(
        title="Looking at information_schema makes InnoDB read pages of every table",
        evidence=(f"{_NAME} = ON", *((f"{schema.tables:,} tables",) if schema else ())),
        recommendation=f"set {_NAME} to OFF, the default",
        changes=settings(system.server, {_NAME: "OFF"}),
        severity=Severity.MEDIUM,
        effect=better("latency", "small", "monitoring costs less, and does not change the plans of queries"),
    )


RULE = Rule(
    checks="innodb_stats_on_metadata",
    why="A look at the catalogue should not read the data.",
    expected="faster metadata queries, stable plans",
    sources=('MySQL Reference Manual, "Optimizing INFORMATION_SCHEMA Queries"',),
    judge=_judge,
    variables=(_NAME,),
)
