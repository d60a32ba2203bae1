"""How many connections the server accepts.

At the limit a client gets error 1040 (Too many connections): the application is down although the server
works. One extra connection is reserved for an administrator. A limit far above what fits in memory is no
better: each connection may allocate its session buffers, and many at once end in the out-of-memory killer.
So the limit follows the largest number ever in use, with headroom, as far as the memory budget allows.

The default is 151 and the maximum 100000. Old guides advise 5000 to 10000 for every server: few machines
have memory for that, and thousands of running threads only wait for each other. A pool of connections in
the application is worth more than a high limit.
"""

from mydyno.advisor.rules import *

_NAME = "max_connections"
_NEAR = 0.85


@Rule(
    checks="max_connections compared with the most connections in use, refused ones, and the memory budget",
    why="At the limit the application is refused (error 1040); far above what fits in memory, a burst of "
    "connections ends with the server killed.",
    expected="no refused clients at peaks, or a worst case that fits the memory; no more throughput",
    risk="a higher limit lets more memory be used at once; a lower one refuses clients above it",
    sources=(
        "MySQL Reference Manual, Too many connections; Server System Variables, max_connections",
        "MariaDB Documentation, Server System Variables, max_connections",
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: 5000 to 10000",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now, used = server.number(_NAME), server.counter("Max_used_connections")
    if not now or used is None or targets.max_connections is None:
        return Unknown("max_connections, Max_used_connections or the machine's memory")
    wanted = targets.max_connections
    # Those of a lower limit than the present one count no more.
    refused = (server.counter("Connection_errors_max_connections") or 0) if used >= now else 0
    changes = settings(server, {_NAME: wanted})
    if not changes and not refused:
        return Fine(f"at most {used:.0f} of {now} connections were in use {uptime(server)}")
    if not changes:
        return Fine(f"{refused:.0f} connections were refused, but the memory has no room for more than {now}")
    raised = wanted > now
    return finding(
        title=f"{used:.0f} of {now} connections were in use"
        if raised
        else f"{now} connections are allowed, {used:.0f} were in use, and the memory is enough for {wanted}",
        evidence=(
            f"at most {used:.0f} of {now} connections were in use {uptime(server)}",
            f"{refused:.0f} connections were refused (Connection_errors_max_connections)"
            if refused
            else None,
            *targets.connections_lines,
            *targets.memory_lines,
        ),
        recommendation=f"set {_NAME} to {wanted}",
        changes=changes,
        severity=_severity(raised, refused > 0, used >= _NEAR * now),
        effect=better(
            "stability",
            "large" if raised and refused else "medium",
            "no client is refused at the next peak"
            if raised
            else "the worst case of connections no longer takes more memory than there is",
        ),
    )


def _severity(raised: bool, refused: bool, near: bool) -> Severity:
    if not raised:
        return Severity.MEDIUM
    return Severity.CRITICAL if refused else Severity.HIGH if near else Severity.LOW
