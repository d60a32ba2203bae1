"""Settings that were changed since the server started and are in no option file.

SET GLOBAL lasts until the restart. A server that was fixed by hand in the night has its old problem again
after the next update, weeks later. Permanent settings belong in an option file (or, in MySQL 8.0 and later,
in SET PERSIST).
"""

from mydyno.advisor.names import is_ours
from mydyno.advisor.rules import *
from mydyno.server.variables import catalogue

_SWITCHED_BY_TOOLS = frozenset({"read_only", "super_read_only", "event_scheduler", "innodb_fast_shutdown"})
"""Failover and backups set these while the server runs, and mean to."""


@Rule(
    checks="variables whose value in force was set while the server was running",
    why="They are lost at the next restart, and with them what they fixed.",
    expected="a restart does not change settings",
    sources=(
        "MySQL Reference Manual, Using System Variables; Performance Schema variables_info Table",
        "MariaDB Documentation, Information Schema SYSTEM_VARIABLES Table",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    if not any(known.origin for known in server.variables.values()):
        return Unknown("where settings come from")
    names = [name for name in sorted(server.variables) if _is_lost(server, name)]
    if not names:
        return Fine("what is in force comes from files, the command line or defaults")
    return finding(
        title=f"{counted(len(names), 'setting', 'was')} changed while the server was running, and lost at "
        "its restart",
        evidence=tuple(f"{name} = {server.text(name)}" for name in names),
        recommendation=f"save what should be permanent: {first(names)}",
        changes=by_hand(
            "put permanent settings under [mysqld] of an option file",
            *tuple(f"{name} = {server.text(name)}" for name in names),
        ),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium"),
    )


def _is_lost(server: Server, name: str) -> bool:
    origin, row = server.variables[name].origin, catalogue().get(name)
    if origin is None or origin.source != "set while running" or row is None or row.where == "running":
        return False
    if name in _SWITCHED_BY_TOOLS:
        return False
    return not any(map(is_ours, origin.overridden))
