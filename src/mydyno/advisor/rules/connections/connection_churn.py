"""Clients that connect for a few statements and disconnect.

Connecting costs a handshake of several round trips (more with TLS), a lookup in the grant tables, a hash of
the password and a thread: easily more than the statements that follow. Keeping connections, in the
application's pool or in a proxy, removes all of it. No setting of the server does as much.
"""

from mydyno.advisor.rules import *

_MANY = 20
"""New connections each second."""
_FEW = 20
"""Statements of each."""


@Rule(
    checks="new connections compared with statements",
    why="A handshake costs more than most statements; clients that reconnect for a few pay it each time.",
    expected="less latency and CPU for clients that reconnect",
    risk="state of a session (variables, temporary tables) outlives a request in a pool",
    sources=(
        "MySQL Reference Manual, Connection Interfaces; Connection Management",
        "MariaDB Documentation, Server Status Variables, Connections",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    rate = require(often(server, "Connections"), "Connections")
    statements = require(often(server, "Questions"), "Questions")
    if rate < _MANY or statements >= _FEW * rate:
        return Fine(f"{a_second(rate)} new connections, {a_second(statements)} statements")
    return finding(
        title=f"{a_second(rate)} new connections for {statements / rate:.1f} statements each",
        evidence=(f"Connections grows by {a_second(rate)}, Questions by {a_second(statements)}",),
        recommendation="keep connections: a pool in the application, or a proxy that holds them",
        changes=by_hand("let the application reuse connections (a pool, or a proxy in between)"),
        severity=Severity.MEDIUM,
        effect=better(
            "latency",
            "medium",
            f"{rate:.0f} fewer handshakes a second, each more expensive than a short statement",
        ),
    )
