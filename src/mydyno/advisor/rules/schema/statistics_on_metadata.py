"""Whether metadata queries make InnoDB sample statistics.

With innodb_stats_on_metadata, SHOW TABLE STATUS and queries of information_schema (monitoring, backup
tools, ORMs at their start) read pages of every table and may change the plans of queries that run. Off by
default since MySQL 5.6.6 and MariaDB 10.0.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_stats_on_metadata"


@Rule(
    checks="innodb_stats_on_metadata",
    why="Metadata queries should not read data pages.",
    expected="monitoring costs less, and does not change the plans of queries",
    sources=('MySQL Reference Manual, "Optimizing INFORMATION_SCHEMA Queries"',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    fine_if(system.server, _NAME, False)
    schema = system.server.schema_facts
    return finding(
        title="Queries of information_schema make InnoDB read pages of every table",
        evidence=(f"{_NAME} = ON", f"{schema.tables:,} tables" if schema else None),
        recommendation=f"set {_NAME} to OFF, the default",
        changes=settings(system.server, {_NAME: "OFF"}),
        severity=Severity.MEDIUM,
        effect=better("latency", "small"),
    )
