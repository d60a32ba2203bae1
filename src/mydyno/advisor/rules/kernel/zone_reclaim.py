"""Whether the kernel drops cached files of one node before it uses another node's memory.

On a machine with several NUMA nodes vm.zone_reclaim_mode makes an allocation on a full node reclaim there,
although the other node has memory free: cached files are dropped, pages written and swapped out, while half
of the machine is idle. For one server that uses all of the memory that is never worth it; the kernel's
default is 0.
"""

from mydyno.advisor.rules import *

_NAME = "vm.zone_reclaim_mode"


def _judge(system: System, _: Targets) -> Judgement:
    host = system.host
    now = host.kernel.number(_NAME) if host else None
    if host is None or now is None:
        return Unknown(_NAME)
    if host.cpu.numa_nodes == 1:
        return NotHere("the machine has one memory node")
    if now == 0:
        return Fine(f"{_NAME} is 0")
    return RULE.finding(
        title=f"A full memory node is emptied while others have room: {_NAME} is {now}",
        evidence=(f"{_NAME} = {now}; {host.cpu.numa_nodes or 'an unknown number of'} NUMA nodes",),
        recommendation=f"set {_NAME} to 0",
        changes=(SetSysctl(name=_NAME, value="0", was=str(now)),),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium", "no reclaim and no swapping while another node has memory free"),
        risk="some memory is read from the other node, slower than from the own one, faster than from a disk",
    )


RULE = Rule(
    checks="vm.zone_reclaim_mode on a machine with several memory nodes",
    why="A server whose pool spans the nodes is better off with remote memory than with reclaim.",
    expected="no reclaim while memory is free",
    risk="more accesses to the other node's memory",
    sources=("Linux kernel documentation, Documentation for /proc/sys/vm, zone_reclaim_mode",),
    judge=_judge,
)
