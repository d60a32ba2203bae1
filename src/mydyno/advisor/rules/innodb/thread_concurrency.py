"""Whether InnoDB admits too few threads.

innodb_thread_concurrency limits the threads inside InnoDB at a time; others queue or sleep. It once helped
on machines whose latches did not scale; the default is 0, no limit, and MariaDB has ignored it since
10.5.5. A limit below the number of CPUs leaves them idle while queries queue.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_thread_concurrency"


@Rule(
    checks="innodb_thread_concurrency compared with the number of CPUs and waiting queries",
    why="A limit below what the machine can run leaves CPUs idle.",
    expected="all CPUs are used, and no query waits to enter InnoDB",
    risk="with hundreds of running queries contention may rise; it can be changed back while the server runs",
    sources=(
        'MySQL Reference Manual, "Configuring Thread Concurrency for InnoDB"',
        'MariaDB Documentation, "InnoDB System Variables", innodb_thread_concurrency',
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.number(_NAME)
    if now is None or is_mariadb(server.release, (10, 5, 5)):
        return NotHere("MariaDB has no such limit since 10.5.5")
    if now == 0:
        return Fine(f"{_NAME} is 0: no limit")
    queue = server.innodb.queries_in_queue if server.innodb else None
    cpus = system.host.cpu.count if system.host else None
    narrow = cpus is not None and now < cpus
    if not queue and not narrow:
        return Fine(f"{_NAME} is {now}, and no query queues")
    return finding(
        title=f"Only {now} threads may be inside InnoDB" + (f", {queue} queue" if queue else ""),
        evidence=(
            f"{_NAME} = {now}" + (f" on {cpus} CPUs" if cpus else ""),
            f"{queue} queries wait to enter InnoDB" if queue is not None else None,
        ),
        recommendation=f"set {_NAME} to 0, the default; a thread pool limits load better",
        changes=settings(server, {_NAME: 0}),
        severity=Severity.MEDIUM,
        effect=better("throughput", "medium" if queue else "small"),
    )
