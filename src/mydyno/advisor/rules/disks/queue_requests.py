"""How many requests the kernel holds for a disk while it sorts them.

nr_requests bounds the requests of a queue with a scheduler. With only a few dozen there is nothing to sort,
and threads wait before their request is even queued. It is rarely set that low; above the default little is
gained, since InnoDB bounds its I/O itself. Without a scheduler it is the disk's own number.
"""

from mydyno.advisor.rules import *

_FEW, _WANTED = 64, 256


@Rule(
    checks="nr_requests of disks with a scheduler",
    why="A queue of a few requests cannot be sorted, and threads wait to enter it.",
    expected="more throughput while many pages are flushed, if the queue was very short",
    risk="single reads can wait longer behind a longer queue of writes",
    sources=("Linux kernel documentation, Queue sysfs files, nr_requests",),
)
def rule(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    disks = list(storage.server_disks()) if storage else []
    known = [(disk, disk.requests) for disk in disks if disk.requests is not None]
    if not known:
        return Unknown("nr_requests of the disks under the server's files")
    sorted_ones = [(disk, count) for disk, count in known if disk.scheduler not in (None, "none", "noop")]
    if not sorted_ones:
        return NotHere("no scheduler sorts requests on these disks")
    few = [(disk, count) for disk, count in sorted_ones if count < _FEW]
    numbers = ", ".join(f"{disk.name}: {count}" for disk, count in sorted_ones)
    if not few:
        return Fine(f"requests that are sorted: {numbers}")
    return finding(
        title=f"Queues of {', '.join(disk.name for disk, _ in few)} are too short to sort",
        evidence=(f"nr_requests: {numbers}",),
        recommendation=f"nr_requests = {_WANTED}",
        changes=tuple(
            SetQueue(disk=disk.name, attribute="nr_requests", value=str(_WANTED), was=str(count))
            for disk, count in few
        ),
        effect=better("throughput", "small"),
    )
