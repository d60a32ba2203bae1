"""How readily the kernel moves the server's memory to swap.

A buffer pool that is swapped out is worse than a smaller one: a page that InnoDB believes to be in memory
costs a disk read while latches are held. The kernel weighs the cost of swapping against that of dropping
cached files by vm.swappiness; at its default of 60 it may swap a busy server out to keep files cached. At 0
the kernel does not swap until it is nearly out of memory and may then kill the server instead (vm.rst), so
1 is advised.
"""

from mydyno.advisor.rules import *

_NAME = "vm.swappiness"
_MOST = 10


@Rule(
    checks="vm.swappiness, whether there is swap, and whether the server is in it",
    why="A swapped buffer pool page costs a disk read where InnoDB expects memory.",
    expected="no stalls on buffer pool pages in swap; no effect while memory is free",
    risk="with swappiness at 1 the page cache of other programs is dropped sooner",
    sources=("Linux kernel documentation, Documentation for /proc/sys/vm, swappiness",),
)
def rule(system: System, _: Targets) -> Judgement:
    host = require(system.host, _NAME)
    now = require(host.kernel.number(_NAME), _NAME)
    if not host.memory.swap_total:
        return NotHere("this machine has no swap")
    if 1 <= now <= _MOST:
        return Fine(f"{_NAME} is {now}")
    swapped = host.process.swapped_bytes if host.process else None
    return finding(
        title=f"The kernel may swap the server out: {_NAME} is {now}",
        evidence=(
            f"{_NAME} = {now}, and there is swap",
            f"{swapped} bytes of the server are in swap now" if swapped else None,
        ),
        recommendation=f"set {_NAME} to 1",
        changes=(SetSysctl(name=_NAME, value="1", was=str(now)),),
        severity=Severity.HIGH if swapped else Severity.LOW,
        effect=better("stability", "medium" if swapped else "small"),
    )
