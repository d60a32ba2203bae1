"""How many threads are kept for new connections.

Without a pool each connection has a thread. One that ends goes into the cache while there is room, and the
next connection takes it; otherwise a thread is created and destroyed, which costs tens of microseconds,
memory mappings and a context switch. A measurement of 2014 with 10 to 400 clients that connect and
disconnect: with a cache of 8 the server created 5575 threads for 8611 connections, with 450 it created 31
for 8937 (and reached fewer clients at once, so that its throughput is not to be compared).

MySQL decides by itself (8 + max_connections / 100, at most 100), MariaDB's default is 256; the setting
matters where an old option file has a small number and clients reconnect all the time. A thread pool does
not use it.
"""

from mydyno.advisor.rules import *

_NAME = "thread_cache_size"
_OFTEN = 1.0
"""Threads made each second."""
_PART = 0.05
"""Of the connections that had to make one."""
_MOST = 512


@Rule(
    checks="thread_cache_size compared with the rate at which threads are created",
    why="Creating a thread for each connection costs CPU where clients reconnect often.",
    expected="cheaper connecting where clients reconnect often; nothing with connections that stay",
    risk="a waiting thread keeps its stack's touched pages (tens of kilobytes)",
    sources=(
        "MySQL Reference Manual, Server System Variables, thread_cache_size; Connection Interfaces",
        "MariaDB Documentation, Server System Variables, thread_cache_size",
        "A measurement of 2014, max_connections and thread_cache: 8 against 450",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now, used = server.number(_NAME), server.counter("Max_used_connections")
    created, connections = server.counter("Threads_created"), server.counter("Connections")
    if now is None or used is None or created is None or not server.uptime_seconds:
        return Unknown(f"{_NAME}, Threads_created or Max_used_connections")
    if (server.text("thread_handling") or "").casefold() in ("pool-of-threads", "loaded-dynamically"):
        return NotHere("a thread pool serves the connections")
    again = max(0.0, created - used)  # The first thread of each connection at the peak no cache can spare.
    made = max(again / server.uptime_seconds, server.rate("Threads_created") or 0.0)
    part = share(again, connections)
    if made < _OFTEN or part is None or part < _PART:
        return Fine(f"{a_second(made)} threads are created, {now} are kept")
    limit = targets.max_connections or server.number("max_connections") or _MOST
    wanted = min(_MOST, limit, -(-int(used) // 10) * 10)
    if now >= wanted:
        return Fine(f"{now} threads are kept, for at most {used:.0f} connections")
    return finding(
        title=f"{a_second(made)} threads are created: {now} are kept for {used:.0f} connections",
        evidence=(
            f"{created:.0f} threads were created for at most {used:.0f} connections at once",
            f"{part:.0%} of all connections needed a new one",
            f"Max_used_connections = {used:.0f}, in tens and at most {min(_MOST, limit)}: {wanted}",
        ),
        recommendation=f"set {_NAME} to {wanted}; a pool of connections in the application does more",
        changes=settings(server, {_NAME: wanted}),
        severity=Severity.MEDIUM if made >= 50 else Severity.LOW,
        effect=better(
            "latency",
            "medium" if made >= 50 else "small",
            f"connecting is cheaper, {a_second(made)} times; running statements are not faster",
        ),
    )
