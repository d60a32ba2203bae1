"""Whether reads or writes of pages queue for an I/O thread.

InnoDB hands its background I/O (read-ahead, flushing) to a few threads: each can have 256 requests in
flight. MySQL's manual advises more of them only when more than 64 requests for each thread are pending.
MariaDB since 10.5 has no such threads; the numbers, times 256, limit how many requests may be in flight.
The default of 4 is nearly always enough.
"""

import math

from mydyno.advisor.rules import *

_PENDING = {
    "innodb_read_io_threads": "Innodb_data_pending_reads",
    "innodb_write_io_threads": "Innodb_data_pending_writes",
}
_EACH = 64
_DEFAULT, _MOST = 4, 64


@Rule(
    checks="innodb_read_io_threads and innodb_write_io_threads compared with pending requests",
    why="A request that waits for a thread does not reach an idle disk.",
    expected="more requests in flight on fast disks; nothing where no requests queue",
    sources=(
        'MySQL Reference Manual, "Configuring the Number of Background InnoDB I/O Threads"',
        'MariaDB Documentation, "InnoDB Asynchronous I/O"',
    ),
    variables=tuple(_PENDING),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    wanted: dict[str, Setting] = {}
    evidence, pressed = [], False
    for name, counter in _PENDING.items():
        now, pending = server.number(name), server.counter(counter)
        if now is None or pending is None:
            return Unknown(f"{name}, {counter}")
        needed = min(max(math.ceil(pending / _EACH), _DEFAULT), _MOST)
        evidence.append(f"{name} = {now}, {pending:,.0f} requests pending: {_EACH} for each of {needed}")
        if needed > now:
            wanted[name] = needed
            pressed = pressed or pending > _EACH * now
    changes = settings(server, wanted)
    if not changes:
        return Fine("; ".join(evidence))
    return finding(
        title="Requests queue for InnoDB's I/O threads" if pressed else "Fewer I/O threads than the default",
        evidence=tuple(evidence),
        recommendation="set " + " and ".join(f"{change.name} to {change.value}" for change in changes),
        changes=changes,
        severity=Severity.MEDIUM if pressed else Severity.LOW,
        effect=better("throughput", "small"),
    )
