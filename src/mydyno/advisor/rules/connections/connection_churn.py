"""Clients that connect for a few statements and go.

Connecting costs a handshake of several round trips (more with TLS), a look into the grants, a hash of the
password and a thread: easily more than the statements that follow. Keeping connections, in the
application's pool or in a proxy, removes all of it. No setting of the server does as much.
"""

from mydyno.advisor.rules import *

_MANY = 20
"""New connections each second."""
_FEW = 20
"""Statements of each."""


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    rate, asked = often(server, "Connections"), often(server, "Questions")
    if rate is None or asked is None:
        return Unknown("Connections or Questions")
    if rate < _MANY or asked >= _FEW * rate:
        return Fine(f"{a_second(rate)} new connections, {a_second(asked)} statements")
    return RULE.finding(
        title=f"{a_second(rate)} new connections for {asked / rate:.1f} statements each",
        evidence=(f"Connections grows by {a_second(rate)}, Questions by {a_second(asked)}",),
        recommendation="keep connections: a pool in the application, or a proxy that holds them",
        changes=by_hand("let the application reuse connections (a pool, or a proxy in between)"),
        severity=Severity.MEDIUM,
        effect=better(
            "latency", "medium", f"{rate:.0f} handshakes a second less, each dearer than a short statement"
        ),
    )


RULE = Rule(
    checks="new connections against statements",
    why="A handshake costs more than most statements; clients that reconnect for a few pay it each time.",
    expected="less latency and CPU for clients that reconnect",
    risk="state of a session (variables, temporary tables) outlives a request in a pool",
    sources=(
        "MySQL Reference Manual, Connection Interfaces; Connection Management",
        "MariaDB Documentation, Server Status Variables, Connections",
    ),
    judge=_judge,
)
