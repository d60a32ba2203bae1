"""Statements that are prepared for a single execution.

A server-side prepared statement is worth its extra round trips only when it is executed again and again. A
driver that prepares, executes once and closes sends three packets and waits twice where a plain statement
waits once. Most drivers can either prepare on the client's side or keep what they prepared with the
connection.
"""

from mydyno.advisor.rules import *

_MANY = 100
"""Executions each second."""
_ONCE = 0.8


@Rule(
    checks="Com_stmt_prepare compared with Com_stmt_execute",
    why="Preparing for a single execution doubles the round trips.",
    expected="one round trip less for each statement: less latency over a network, little on one machine",
    sources=(
        "MySQL Reference Manual, Prepared Statements",
        "MariaDB Documentation, Server Status Variables, Com_stmt_prepare",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    prepared = require(often(server, "Com_stmt_prepare"), "Com_stmt_prepare")
    executed = require(often(server, "Com_stmt_execute"), "Com_stmt_execute")
    if executed < _MANY or prepared < _ONCE * executed:
        return Fine(f"{a_second(prepared)} statements prepared, {a_second(executed)} executed")
    return finding(
        title=f"Statements are prepared for {executed / prepared:.1f} executions each",
        evidence=(
            f"Com_stmt_prepare grows by {a_second(prepared)}, Com_stmt_execute by {a_second(executed)}",
        ),
        recommendation="let the driver keep prepared statements, or not prepare on the server",
        changes=by_hand(
            "set the driver to cache prepared statements (Connector/J: cachePrepStmts=true),"
            " or to emulate them (PDO: ATTR_EMULATE_PREPARES)"
        ),
        effect=better("latency", "small"),
    )
