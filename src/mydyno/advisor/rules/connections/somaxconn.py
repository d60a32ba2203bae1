"""Whether the kernel cuts the queue of connections that wait to be accepted.

The server asks for back_log places; the kernel grants at most net.core.somaxconn (4096 since Linux 5.4, 128
before), to TCP and to unix sockets alike. In a burst of new connections a full queue drops them: the client
tries again after a second, which looks like an odd second of latency. The kernel counts these drops.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.waiting import MOST, places_wanted

_NAME = "net.core.somaxconn"


def _judge(system: System, _: Targets) -> Judgement:
    host = system.host
    now = host.kernel.number(_NAME) if host else None
    back_log = system.server.number("back_log")
    if host is None or now is None or back_log is None:
        return Unknown(f"{_NAME} and back_log")
    asked = max(back_log, places_wanted(system.server) or 0)
    dropped = host.kernel.counters.get("TcpExtListenOverflows")
    numbers = f"back_log asks for {back_log} places, {_NAME} grants at most {now}"
    if asked > back_log:
        numbers += f"; the rate of new connections asks for {asked}"
    if now >= asked:
        return Fine(numbers)
    wanted = power_of_two(max(MOST, asked))
    return RULE.finding(
        title=f"The queue of waiting connections is cut from {asked} to {now}",
        evidence=(
            numbers,
            f"connections dropped from full queues on this machine since boot: "
            f"{'not known' if dropped is None else dropped}",
        ),
        recommendation=f"set {_NAME} to {wanted}",
        changes=(SetSysctl(name=_NAME, value=str(wanted), was=str(now)),),
        severity=Severity.MEDIUM if dropped else Severity.LOW,
        effect=better(
            "latency",
            "medium" if dropped else "small",
            "no connection waits a second and more for its second try in a burst",
        ),
        risk="takes effect when the server listens anew",
        restart=True,
    )


RULE = Rule(
    checks="net.core.somaxconn against back_log",
    why="Above the smaller of the two, connections in a burst are dropped and tried again after a second.",
    expected="bursts of connections without retries; nothing with a connection pool",
    sources=(
        "listen(2), notes",
        "Linux kernel documentation, IP sysctl, somaxconn",
        "MySQL Reference Manual, back_log",
    ),
    judge=_judge,
)
