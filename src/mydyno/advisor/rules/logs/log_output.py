"""Whether the slow and the general log go to files or to tables.

The tables mysql.slow_log and mysql.general_log are of the CSV engine: each entry takes a table lock and the
cost of a statement, they have no index and are never purged. A file is written in one call and can be
rotated. Galera cannot log to tables at all.
"""

from mydyno.advisor.rules import *

_NAME = "log_output"


@Rule(
    checks="log_output",
    why="A log in a CSV table costs a statement for each entry and is never rotated.",
    expected="each entry costs less, and no table grows without limit",
    risk="programs that read mysql.slow_log must read the file instead",
    sources=(
        "MySQL Reference Manual, Selecting General Query Log and Slow Query Log Output Destinations",
        "MariaDB Documentation, Writing Logs Into Tables",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.text(_NAME), _NAME)
    kinds = now.upper().split(",")
    if "TABLE" not in kinds or "NONE" in kinds:
        return Fine(f"{_NAME} is {now}")
    logs = [name for name in ("slow_query_log", "general_log") if server.switch(name)]
    return finding(
        title="Logs go to tables of the CSV engine",
        evidence=(f"{_NAME} = {now}", f"logs that are on: {', '.join(logs) or 'none'}"),
        recommendation=f"set {_NAME} = FILE",
        changes=settings(server, {_NAME: "FILE"}),
        severity=Severity.MEDIUM if "general_log" in logs else Severity.LOW,
        effect=better("throughput", "small"),
    )
