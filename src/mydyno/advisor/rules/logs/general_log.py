"""Whether every statement is logged.

The general log has each statement of each client, before it runs, under one lock: at thousands a second it
is a bottleneck, its file outgrows the data, and it holds passwords and customers' data in clear text. It is
for minutes of debugging. For auditing there are plugins.
"""

from mydyno.advisor.rules import *

_NAME = "general_log"
_MANY = 500
"""Statements a second."""


@Rule(
    checks="general_log",
    why="It writes every statement under one lock and fills the disk.",
    expected="no statement waits for the log's lock, and the disk does not fill with it: more throughput at "
    "high rates",
    risk="if it serves as an audit log, use an audit plugin instead",
    sources=("MySQL Reference Manual, The General Query Log", "MariaDB Documentation, General Query Log"),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.switch(_NAME), _NAME)
    rate = often(server, "Questions")
    if not now:
        return Fine("it is off")
    if "NONE" in (server.text("log_output") or "").upper().split(","):
        return Fine("it is on, and log_output = NONE writes nothing")
    busy = rate is not None and rate >= _MANY
    return finding(
        title=f"Every statement is written to the general log, {a_second(rate)}",
        evidence=(
            f"{_NAME} = ON, log_output = {server.text('log_output')}",
            f"Questions grows by {a_second(rate)}",
        ),
        recommendation=f"set {_NAME} = OFF",
        changes=settings(server, {_NAME: False}),
        severity=Severity.HIGH if busy else Severity.MEDIUM,
        effect=better("throughput", "medium" if busy else "small"),
    )
