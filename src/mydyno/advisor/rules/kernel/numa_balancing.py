"""Whether the kernel moves memory between nodes by itself.

kernel.numa_balancing unmaps pages now and then, to learn from the faults which CPU uses them, and moves
them there. Threads of a database use all of the pool from all CPUs: there is nothing to learn, and the
faults and moves cost. The kernel's documentation says that a workload that is already placed should do
without. The published gains are a few per cent and not always there.
"""

from mydyno.advisor.rules import *

_NAME = "kernel.numa_balancing"


@Rule(
    checks="kernel.numa_balancing on a machine with several memory nodes",
    why="Every thread of the server uses every part of the pool, so moving pages to the CPU that used "
    "them last gains nothing.",
    expected="no sampling faults: a little less CPU time in the kernel, often too little to measure",
    risk="other programs on this machine may gain from it",
    sources=("Linux kernel documentation, Documentation for /proc/sys/kernel, numa_balancing",),
)
def rule(system: System, _: Targets) -> Judgement:
    host = system.host
    if host is None or host.cpu.numa_nodes is None:
        return Unknown("how many memory nodes the machine has")
    if host.cpu.numa_nodes < 2:
        return NotHere("the machine has one memory node")
    now = require(host.kernel.number(_NAME), _NAME)
    if now == 0:
        return Fine(f"{_NAME} is 0")
    return finding(
        title=f"The kernel samples and moves the server's memory between nodes: {_NAME} is {now}",
        evidence=(f"{_NAME} = {now}, {host.cpu.numa_nodes} NUMA nodes",),
        recommendation=f"set {_NAME} to 0",
        changes=(SetSysctl(name=_NAME, value="0", was=str(now)),),
        effect=better("throughput", "small"),
    )
