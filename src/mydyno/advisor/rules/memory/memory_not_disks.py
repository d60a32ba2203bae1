"""More memory instead of more disks.

Where most of the data is in the buffer pool and the rest is read from the disk all the time, memory for
that rest ends the reads, and faster disks only shorten them. A test of arrays with 100, 80 and 40% of the
data in memory finds memory the better investment, and at 80% a plain mirror good enough for reads. The
rule applies where the pool already has what this machine's memory allows; otherwise rule buffer-pool-size
applies.
"""

from mydyno.advisor.rules import *

_POOL = "innodb_buffer_pool_size"
_MOST = 0.4
"""Of the data in memory, from which more memory is a moderate wish."""
_READS = 50.0
"""Pages a second: half of what a disk with an arm can read."""
_OVERHEAD = 1.1
"""A page takes some memory in addition to its own."""


@Rule(
    checks="the share of the data in the buffer pool, and the remaining reads",
    why="A read that does not happen is faster than any disk.",
    expected="fewer disk reads, down to none",
    risk="writes go to the disks whatever the memory",
    sources=(
        "MySQL Reference Manual, The InnoDB Buffer Pool; Optimizing InnoDB Disk I/O",
        "gywndi, DB performance by RAID configuration, 2012: memory is the best investment",
    ),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    schema, pool = server.schema_facts, server.number(_POOL)
    data = schema.innodb_bytes if schema else None
    reads = usual_rate(server, "Innodb_buffer_pool_reads")
    if not data or pool is None or reads is None or system.host is None or targets.buffer_pool_bytes is None:
        return Unknown("the size of InnoDB's tables, the reads of its pool or the machine's memory")
    part = pool / data
    numbers = f"a pool of {format_bytes(pool)} / {format_bytes(data)} of tables and indexes = {part:.0%}"
    if part >= 1:
        return Fine(numbers)
    if reads < _READS:
        return Fine(f"{numbers}, and only {a_second(reads)} pages are read from the disk")
    if targets.buffer_pool_bytes > pool:
        return NotHere("the machine has memory for a larger pool: rule buffer-pool-size")
    if part < _MOST:
        return Fine(f"{numbers}: too much does not fit in memory, the disks decide")
    missing = int((data - pool) * _OVERHEAD)
    requests = usual_rate(server, "Innodb_buffer_pool_read_requests")
    hits = f"{1 - reads / requests:.2%} of {a_second(requests)} requests were in memory" if requests else None
    return finding(
        title=f"{format_bytes(missing)} more memory would avoid {a_second(reads)} disk reads",
        evidence=(
            numbers,
            f"{a_second(reads)} pages are read from the disk",
            hits,
            f"({format_bytes(data)} - {format_bytes(pool)}) x {_OVERHEAD:g} = {format_bytes(missing)}",
        ),
        recommendation=f"give the machine {format_bytes(missing)} more memory before other disks; less is "
        "enough where part of the data is never read",
        changes=by_hand(
            f"add {format_bytes(missing)} of memory, and set {_POOL} by rule buffer-pool-size then"
        ),
        severity=Severity.MEDIUM,
        effect=better(
            "latency",
            "large",
            f"up to {a_second(reads)} fewer disk reads; faster disks only make each shorter",
        ),
    )
