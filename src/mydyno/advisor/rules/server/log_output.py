"""Whether the slow and the general log go to files or to tables.

The tables mysql.slow_log and mysql.general_log are of the CSV engine: each entry takes a table lock and a
statement's way through the server, they have no index and are never removed. A file is written in one
call, and logrotate knows it. Galera cannot log to tables at all.
"""

from __future__ import annotations

from mydyno.advisor.rule import Fine, Judgement, Rule, Unknown
from mydyno.advisor.setting import settings
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.survey.facts import System

_NAME = "log_output"


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.text(_NAME)
    if now is None:
        return Unknown(_NAME)
    kinds = now.upper().split(",")
    if "TABLE" not in kinds or "NONE" in kinds:
        return Fine(f"{_NAME} is {now}")
    logs = [name for name in ("slow_query_log", "general_log") if server.switch(name)]
    return Finding(
        rule=RULE.id,
        title="Logs go to tables of the CSV engine",
        evidence=(f"{_NAME} = {now}", f"logs that are on: {', '.join(logs) or 'none'}"),
        recommendation=f"set {_NAME} = FILE",
        changes=settings(server, {_NAME: "FILE"}),
        severity=Severity.MEDIUM if "general_log" in logs else Severity.LOW,
        effect=Effect(
            aspect="throughput",
            direction="better",
            size="small",
            says="each entry costs less, and no table grows for ever",
        ),
        risk="what reads mysql.slow_log must read the file instead",
    )


RULE = Rule(
    id="log-output",
    layer="logs",
    checks="log_output",
    why="A log in a CSV table costs a statement for each entry and is never rotated.",
    expected="cheaper logging",
    durability="none",
    risk="readers of the tables see nothing new",
    sources=(
        "MySQL Reference Manual, Selecting General Query Log and Slow Query Log Output Destinations",
        "MariaDB Documentation, Writing Logs Into Tables",
    ),
    judge=_judge,
    variables=(_NAME,),
)
