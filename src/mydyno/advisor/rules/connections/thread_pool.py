"""One thread for each connection, or a pool of them.

With many more runnable threads than CPUs the kernel switches between them, they wait for each other's
latches, and throughput falls while latency grows. MariaDB and Percona Server have a pool: thread_pool_size
groups (one for each CPU by default) run about one statement each at a time, the others wait in a queue, and
a group with a statement that stalls (thread_pool_stall_limit) gets another thread. It helps many short
statements at once; it does not help a server with few active connections, and a burst of long queries can
delay short ones. MySQL has one in its Enterprise edition only.
"""

from mydyno.advisor.counts import least_running
from mydyno.advisor.rules import *

_HANDLING, _SIZE = "thread_handling", "thread_pool_size"
_CROWD = 8
"""Statements at work for each CPU, at both ends of the interval."""


@Rule(
    checks="thread_handling where many more statements run than there are CPUs; the pool's number of groups",
    why="Hundreds of threads on a few CPUs wait for each other instead of working.",
    expected="steadier throughput and latency at very many active clients; nothing, or a little less, at few",
    risk="short statements may wait behind long ones; administrators can connect through extra_port",
    sources=(
        "MariaDB Documentation, Thread Pool in MariaDB; Thread Pool System and Status Variables",
        "Percona Server Documentation, Thread pool",
    ),
    variables=(_HANDLING, _SIZE),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    if not server.has(_HANDLING, _SIZE):
        return NotHere(f"{server.release} has no thread pool")
    running = least_running(server)
    if system.host is None or running is None:
        return Unknown("the number of CPUs or Threads_running")
    cpus, size = system.host.cpu.count, server.number(_SIZE)
    pooled = (server.text(_HANDLING) or "").casefold() == "pool-of-threads"
    crowded = running >= _CROWD * cpus
    if not pooled and not crowded:
        return Fine(f"{running:.0f} statements running on {cpus} CPUs: too few for a pool to help")
    wanted: dict[str, Setting] = {_HANDLING: "pool-of-threads"}
    if size is not None and not cpus / 2 <= size <= 2 * cpus:
        wanted[_SIZE] = cpus
    changes = settings(server, wanted)
    if not pooled:  # A pool that does not run does not take its size.
        changes = tuple(change.model_copy(update={"restart": True}) for change in changes)
    if not changes:
        return Fine(f"a pool of {size} groups on {cpus} CPUs")
    return finding(
        title=f"A thread pool of {size} groups on {cpus} CPUs"
        if pooled
        else f"{running:.0f} statements at work on {cpus} CPUs, each with its own thread",
        evidence=(
            f"Threads_running = {running:.0f} at least, {running / cpus:.1f} for each of {cpus} CPUs",
            f"{_HANDLING} = {server.text(_HANDLING)}, {_SIZE} = {size}",
        ),
        recommendation=", ".join(change.sentence() for change in changes),
        changes=changes,
        severity=Severity.LOW if pooled else Severity.MEDIUM,
        effect=better("throughput", "small" if pooled else "medium"),
    )
