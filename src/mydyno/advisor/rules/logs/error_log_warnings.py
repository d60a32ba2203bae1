"""Whether warnings reach the error log.

With log_error_verbosity = 1 (MySQL) or log_warnings = 0 (MariaDB, MySQL 5.6) only errors are written.
Aborted connections, unsafe statements, a replica that reconnects, InnoDB's notes on slow disks: all of it
is lost, and missing after an incident.
"""

from mydyno.advisor.rules import *

_VERBOSITY, _WARNINGS = "log_error_verbosity", "log_warnings"


@Rule(
    checks="log_error_verbosity or log_warnings",
    why="Warnings announce problems before they become errors.",
    expected="the events before an error can be read",
    risk="a longer error log",
    sources=(
        "MySQL Reference Manual, Server System Variables, log_error_verbosity",
        "MariaDB Documentation, Error Log, log_warnings",
    ),
    variables=(_VERBOSITY, _WARNINGS),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    name = _VERBOSITY if server.has(_VERBOSITY) else _WARNINGS
    now = require(server.number(name), f"{_VERBOSITY} or {_WARNINGS}")
    least = 2 if name == _VERBOSITY else 1
    if now >= least:
        return Fine(f"{name} is {now}")
    return finding(
        title="Warnings are not written to the error log",
        evidence=(f"{name} = {now}: errors only",),
        recommendation=f"set {name} = 2",
        changes=settings(server, {name: 2}),
        effect=better("insight", "small"),
    )
