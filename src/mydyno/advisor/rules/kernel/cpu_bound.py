"""The CPUs are the limit, not the disks.

Where nearly all CPU time is used and the disks are mostly idle, faster disks, another array or a larger
buffer pool have no effect: a test of disk arrays with all data in memory finds them equal once the CPUs are
used up. What helps is less work for each statement (indexes, plans, fewer statements) or more or faster
CPUs.
"""

from mydyno.advisor.rules import *

_BUSY = 0.85
_IDLE_DISK = 0.5
_WAITING = 0.1


@Rule(
    checks="the time of CPUs and disks while the server was watched",
    why="Only making the bottleneck faster helps.",
    expected="nothing by itself: no money is spent on disks that would wait for the CPUs",
    sources=(
        "proc_stat(5), Linux manual page; Linux kernel documentation, I/O statistics fields",
        "gywndi, DB performance by RAID configuration, 2012: with all data in memory the CPUs decide",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    host = require(system.host, "what the CPUs did while the server was watched")
    load = require(host.load, "what the CPUs did while the server was watched")
    if host.cpu.count != load.cpus:
        return NotHere(
            f"the server may use {host.cpu.count} of {load.cpus} CPUs, which are measured together"
        )
    names = [disk.name for disk in host.storage.server_disks()]
    disks = [disk for name in names if (disk := load.disk(name)) is not None]
    busiest = max(disks, key=lambda disk: disk.busy, default=None)
    numbers = (
        f"{load.cpu_busy:.0%} of {load.cpus} CPUs busy, {load.cpu_waiting:.0%} waiting for a disk"
        f" in {load.seconds:.0f} s"
    )
    if load.cpu_busy < _BUSY:
        return Fine(numbers)
    if load.cpu_waiting >= _WAITING or (busiest is not None and busiest.busy >= _IDLE_DISK):
        return Fine(f"{numbers}; the disks are busy too")
    used = (
        "its disks did nothing"
        if busiest is None
        else f"{busiest.name}, the busiest, was at work {busiest.busy:.0%}"
    )
    reads = system.server.rate("Innodb_buffer_pool_reads")
    statements = system.server.rate("Questions")
    return finding(
        title=f"The CPUs are the limit ({load.cpu_busy:.0%} busy): faster disks have no effect",
        evidence=(
            numbers,
            f"disks under the server's files: {used} of the time",
            f"{a_second(statements)} statements, {a_second(reads)} pages read from the disk",
        ),
        recommendation="find the statements that take most CPU time; after that more or faster CPUs",
        changes=by_hand(
            "see which statements take the time, and which indexes would help",
            "mydyno digest --socket SOCKET --for 60s",
        ),
        severity=Severity.MEDIUM,
        effect=better("insight", "medium"),
    )
