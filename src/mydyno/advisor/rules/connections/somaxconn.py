"""Whether the kernel limits the queue of connections that wait to be accepted.

The server requests a queue of back_log connections; the kernel grants at most net.core.somaxconn (4096
since Linux 5.4, 128 before), for TCP and unix sockets. In a burst of new connections a full queue drops
them: the client tries again after a second, which appears as a second of latency. The kernel counts these
drops.
"""

from mydyno.advisor.backlog import MOST, places_wanted
from mydyno.advisor.rules import *

_NAME = "net.core.somaxconn"


@Rule(
    checks="net.core.somaxconn compared with back_log",
    why="Above the smaller of the two, connections in a burst are dropped and tried again after a second.",
    expected="bursts of connections without retries; nothing with a connection pool",
    risk="takes effect when the server is restarted",
    sources=(
        "listen(2), notes",
        "Linux kernel documentation, IP sysctl, somaxconn",
        "MySQL Reference Manual, back_log",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    host = system.host
    now = host.kernel.number(_NAME) if host else None
    back_log = system.server.number("back_log")
    if host is None or now is None or back_log is None:
        return Unknown(f"{_NAME} and back_log")
    requested = max(back_log, places_wanted(system.server) or 0)
    dropped = host.kernel.counters.get("TcpExtListenOverflows")
    numbers = f"back_log requests {back_log} places, {_NAME} grants at most {now}"
    if requested > back_log:
        numbers += f"; the rate of new connections calls for {requested}"
    if now >= requested:
        return Fine(numbers)
    wanted = power_of_two(max(MOST, requested))
    return finding(
        title=f"The queue of waiting connections is limited to {now} instead of {requested}",
        evidence=(
            numbers,
            f"connections dropped from full queues on this machine since boot: "
            f"{'not known' if dropped is None else dropped}",
        ),
        recommendation=f"set {_NAME} to {wanted}",
        changes=(SetSysctl(name=_NAME, value=str(wanted), was=str(now)),),
        severity=Severity.MEDIUM if dropped else Severity.LOW,
        effect=better("latency", "medium" if dropped else "small"),
        restart=True,
    )
