"""How many new connections may wait until the server accepts them.

back_log is what the server passes to listen(2); the kernel limits it to net.core.somaxconn. One thread
accepts connections; while it is busy, or the machine is, new ones wait, and when the queue is full their
packets are dropped and repeated by the client a second later: connection times of 1 s and 3 s in a
distribution whose rest is milliseconds. The default follows max_connections (50 + a fifth of it, at most
900; since MySQL 8.0 it is max_connections). Only many new connections each second make it matter, and a
pool of connections in the application does more than any queue.
"""

from mydyno.advisor.backlog import MOST, places_wanted
from mydyno.advisor.rules import *

_NAME = "back_log"
_SOMAXCONN = "net.core.somaxconn"


@Rule(
    checks="back_log compared with the rate of new connections",
    why="When the queue of new connections is full their packets are dropped, and clients wait a second.",
    expected="no connection waits a second for a repeated packet in a burst; nothing else",
    sources=(
        "MySQL Reference Manual, Server System Variables, back_log",
        "MariaDB Documentation, Server System Variables, back_log",
        "Linux manual, listen(2)",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now, rate, wanted = server.number(_NAME), often(server, "Connections"), places_wanted(server)
    if now is None or rate is None or wanted is None:
        return Unknown(f"{_NAME} or Connections")
    if not wanted:
        return Fine(f"{a_second(rate)} new connections, {now} may wait")
    if now >= wanted:
        return Fine(f"{a_second(rate)} new connections, {now} may wait: more than two seconds' worth")
    kernel = system.host.kernel.number(_SOMAXCONN) if system.host else None
    return finding(
        title=f"{a_second(rate)} new connections, and only {now} may wait to be accepted",
        evidence=(
            f"Connections grows by {rate:.0f} each second",
            f"two seconds of them: {2 * rate:.0f}, the next power of two {wanted} (at most {MOST});"
            f" {_NAME} = {now}",
            f"{_SOMAXCONN} = {kernel if kernel is not None else 'not known'}, which bounds it",
        ),
        recommendation=f"set {_NAME} to {wanted}; better, reuse connections",
        changes=settings(server, {_NAME: wanted}),
        effect=better("latency", "small"),
        restart=True,
    )
