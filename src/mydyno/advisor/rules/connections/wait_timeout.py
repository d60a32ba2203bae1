"""How long a connection may be idle.

A sleeping connection holds a place under max_connections, its thread and its buffers, and sometimes an open
transaction with its locks. By default the server waits eight hours before it closes one. That does not
matter while connections are available; where sleeping connections fill the limit, active clients are
refused. The timeout is read when a connection begins, so those that are open keep theirs.
"""

from mydyno.advisor.rules import *

_NAME = "wait_timeout"
_LONG = 3_600
_WANTED = 1_800
_SLEEPING = 0.8
_FILLED = 0.5


@Rule(
    checks="wait_timeout where most connections sleep and fill the limit",
    why="Sleeping connections occupy max_connections, memory and sometimes locks that active clients need.",
    expected="abandoned connections are closed within half an hour instead of eight hours; no more "
    "throughput",
    risk="a pool that does not test its connections may hand out one that the server has closed",
    sources=(
        "MySQL Reference Manual, Server System Variables, wait_timeout",
        "MariaDB Documentation, Server System Variables, wait_timeout",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now = server.number(_NAME)
    connected, running = server.counter("Threads_connected"), server.counter("Threads_running")
    limit = targets.max_connections or server.number("max_connections")
    if now is None or connected is None or running is None or not limit:
        return Unknown(f"{_NAME}, Threads_connected or max_connections")
    sleeping = max(0.0, connected - running)
    if now <= _LONG or connected < _FILLED * limit or sleeping < _SLEEPING * connected:
        return Fine(f"{sleeping:.0f} of {connected:.0f} connections sleep, {limit} are allowed")
    return finding(
        title=f"{sleeping:.0f} sleeping connections take {sleeping / limit:.0%} of max_connections",
        evidence=(
            f"Threads_connected {connected:.0f} - Threads_running {running:.0f} = {sleeping:.0f} that sleep",
            f"{limit} connections are allowed; {_NAME} lets them sleep for {now / 3600:.1f} h",
        ),
        recommendation=f"set {_NAME} to {_WANTED} s, and the pool's own idle time below it",
        changes=settings(server, {_NAME: _WANTED}),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium"),
    )
