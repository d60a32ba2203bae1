"""Settings that somebody has changed since the server started, and that no file has.

SET GLOBAL lasts until the restart. A server that was mended in the night by hand comes up with its old
ailment after the next update, weeks later, when nobody remembers. Whatever is meant to stay belongs in an
option file (or, in MySQL 8.0 and later, into SET PERSIST).
"""

from mydyno.advisor.option_places import is_ours
from mydyno.advisor.rules import *
from mydyno.server.variables import catalogue

_SWITCHED_BY_TOOLS = frozenset({"read_only", "super_read_only", "event_scheduler", "innodb_fast_shutdown"})
"""Failover and backups set these while the server runs, and mean to."""


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    if not any(known.origin for known in server.variables.values()):
        return Unknown("where settings come from")
    names = [name for name in sorted(server.variables) if _is_lost(server, name)]
    if not names:
        return Fine("what is in force comes from files, the command line or defaults")
    return RULE.finding(
        title=f"{counted(len(names), 'setting', 'was')} changed while the server ran, until its restart",
        evidence=tuple(f"{name} = {server.text(name)}" for name in names),
        recommendation=f"write down what is meant to stay: {first(names)}",
        changes=by_hand(
            "put those that are meant to stay under [mysqld] of an option file",
            *tuple(f"{name} = {server.text(name)}" for name in names),
        ),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium", "the server after a restart is the server of today"),
    )


def _is_lost(server: Server, name: str) -> bool:
    origin, row = server.variables[name].origin, catalogue().get(name)
    if origin is None or origin.source != "set while running" or row is None or row.where == "running":
        return False
    if name in _SWITCHED_BY_TOOLS:
        return False
    return not any(map(is_ours, origin.overridden))


RULE = Rule(
    checks="variables whose value in force was set while the server ran",
    why="They are forgotten at the next restart, and with them what they had mended.",
    expected="no surprise at the next restart",
    sources=(
        "MySQL Reference Manual, Using System Variables; Performance Schema variables_info Table",
        "MariaDB Documentation, Information Schema SYSTEM_VARIABLES Table",
    ),
    judge=_judge,
)
