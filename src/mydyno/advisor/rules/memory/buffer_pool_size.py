"""Whether the buffer pool has the size that memory and data allow.

The buffer pool is InnoDB's own cache of pages; a page that is not in it costs a disk read, about a thousand
times as much. The size is not a share of the machine by rule of thumb: it is the memory that remains after
the operating system, the connections, temporary tables and other caches, and no more than the data can
fill. The whole calculation is shown with the finding.

How often the pool misses is Innodb_buffer_pool_reads (reads that went to the disk) in
Innodb_buffer_pool_read_requests. A ratio alone says little: 0.1% of a million requests is a thousand reads
a second. A pool that still has many free pages after a day of work is large enough.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.targets.usable import MEMORY

_NAME = "innodb_buffer_pool_size"
_MANY_READS = 100.0


@Rule(
    checks="innodb_buffer_pool_size compared with the memory budget, the size of the data and the misses",
    why="A page that is not in the buffer pool costs a disk read; more than the machine's memory costs "
    "swapping, which is worse.",
    expected="fewer disk reads, or a server that stays within its memory",
    risk="while it is resized, changes wait; a larger pool takes minutes to warm up",
    sources=(
        'MySQL Reference Manual, "Configuring InnoDB Buffer Pool Size"',
        'MariaDB Documentation, "InnoDB Buffer Pool"',
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: 70% of the memory",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now = server.number(_NAME)
    if now is None or targets.buffer_pool_bytes is None:
        return Unknown(_NAME if now is None else MEMORY)
    if targets.buffer_pool_could_grow:
        return Unknown(f"the size of InnoDB's tables: whether more than {format_bytes(now)} is of use")
    wanted = targets.buffer_pool_bytes
    changes = settings(server, {_NAME: size_text(wanted)})
    if not changes:
        return Fine(f"{format_bytes(now)} is right for this memory and data")
    grows = wanted > now
    restart = _needs_restart(server, wanted)
    changes = tuple(change.model_copy(update={"restart": change.restart or restart}) for change in changes)
    reads = _disk_reads(server)
    return finding(
        title=f"The buffer pool has {format_bytes(now)}; {format_bytes(wanted)} "
        + ("would fit" if grows else "is what fits with everything else"),
        evidence=(*_of_data(system), *_of_misses(server), *targets.memory_lines),
        recommendation=f"set {_NAME} to {format_bytes(wanted)}",
        changes=changes,
        severity=_severity(grows, reads),
        effect=_growing(reads) if grows else _shrinking(),
    )


def _needs_restart(server: Server, wanted: int) -> bool:
    """Whether MariaDB's bound, which only a start sets, is lower (MariaDB Documentation, ..._size_max)."""
    most = server.number("innodb_buffer_pool_size_max")
    return most is not None and wanted > most


def _disk_reads(server: Server) -> float | None:
    return server.rate("Innodb_buffer_pool_reads")


def _of_misses(server: Server) -> tuple[str, ...]:
    reads, requests = (
        server.grown("Innodb_buffer_pool_reads"),
        server.grown("Innodb_buffer_pool_read_requests"),
    )
    rate = _disk_reads(server)
    if reads is None or not requests or rate is None:
        return ()
    return (
        f"{reads:,.0f} of {requests:,.0f} page requests went to the disk ({reads / requests:.3%}), "
        f"{rate:,.1f}/s",
    )


def _of_data(system: System) -> tuple[str, ...]:
    schema = system.server.schema_facts
    size = schema.innodb_bytes if schema else None
    return () if size is None else (f"InnoDB's tables and indexes have {format_bytes(size)}",)


def _severity(grows: bool, reads: float | None) -> Severity:
    if not grows:
        return Severity.HIGH
    return Severity.HIGH if (reads or 0) >= _MANY_READS else Severity.MEDIUM


def _growing(reads: float | None) -> Effect:
    size: Size = "medium" if reads is None else "large" if reads >= _MANY_READS else "small"
    says = "fewer disk reads" + ("" if reads is None else f", of which there are {reads:,.1f}/s now")
    return better("throughput", size, says)


def _shrinking() -> Effect:
    says = "the server stays in memory: no swapping, no out-of-memory kill"
    return better("stability", "large", says)
