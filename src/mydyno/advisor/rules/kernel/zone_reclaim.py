"""Whether the kernel drops cached files of one node before it uses another node's memory.

On a machine with several NUMA nodes vm.zone_reclaim_mode makes an allocation on a full node reclaim there,
although the other node has memory free: cached files are dropped, pages written and swapped out, while half
of the machine is idle. For one server that uses all of the memory that never pays off; the kernel's default
is 0.
"""

from mydyno.advisor.rules import *

_NAME = "vm.zone_reclaim_mode"


@Rule(
    checks="vm.zone_reclaim_mode on a machine with several memory nodes",
    why="A server whose pool spans the nodes is better off with remote memory than with reclaim.",
    expected="no reclaim and no swapping while another node has memory free",
    risk="some memory is read from the other node, slower than local memory, faster than a disk",
    sources=("Linux kernel documentation, Documentation for /proc/sys/vm, zone_reclaim_mode",),
)
def rule(system: System, _: Targets) -> Judgement:
    host = require(system.host, _NAME)
    now = require(host.kernel.number(_NAME), _NAME)
    if host.cpu.numa_nodes == 1:
        return NotHere("the machine has one memory node")
    if now == 0:
        return Fine(f"{_NAME} is 0")
    return finding(
        title=f"A full memory node is reclaimed while others have free memory: {_NAME} is {now}",
        evidence=(f"{_NAME} = {now}; {host.cpu.numa_nodes or 'an unknown number of'} NUMA nodes",),
        recommendation=f"set {_NAME} to 0",
        changes=(SetSysctl(name=_NAME, value="0", was=str(now)),),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium"),
    )
