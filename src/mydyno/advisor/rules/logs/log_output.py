"""Whether the slow and the general log go to files or to tables.

The tables mysql.slow_log and mysql.general_log are of the CSV engine: each entry takes a table lock and a
statement's way through the server, they have no index and are never removed. A file is written in one
call, and logrotate knows it. Galera cannot log to tables at all.
"""

from mydyno.advisor.rules import *

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
    return RULE.finding(
        title="Logs go to tables of the CSV engine",
        evidence=(f"{_NAME} = {now}", f"logs that are on: {', '.join(logs) or 'none'}"),
        recommendation=f"set {_NAME} = FILE",
        changes=settings(server, {_NAME: "FILE"}),
        severity=Severity.MEDIUM if "general_log" in logs else Severity.LOW,
        effect=better("throughput", "small", "each entry costs less, and no table grows for ever"),
        risk="what reads mysql.slow_log must read the file instead",
    )


RULE = Rule(
    checks="log_output",
    why="A log in a CSV table costs a statement for each entry and is never rotated.",
    expected="cheaper logging",
    risk="readers of the tables see nothing new",
    sources=(
        "MySQL Reference Manual, Selecting General Query Log and Slow Query Log Output Destinations",
        "MariaDB Documentation, Writing Logs Into Tables",
    ),
    judge=_judge,
    variables=(_NAME,),
)
