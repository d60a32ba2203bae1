"""A machine without swap that is short of memory.

Without swap the kernel can only drop cached files, programs' code among them, and then kill a process: the
largest, which is the server. A little swap takes unused pages and gives an early warning. It does not
replace memory, and where memory is plentiful it makes no difference; so a machine with memory to spare is
fine here. In a container the limit of its group decides instead.
"""

from mydyno.advisor.rules import *

_ROOM = 0.10
"""Available memory below which it is short."""


@Rule(
    checks="whether there is any swap where memory is short",
    why="Without swap the kernel kills the largest process when memory is short: the server.",
    expected="a short memory peak does not kill the server",
    risk="a machine that swaps all the time is slow: watch it",
    sources=(
        "Linux kernel documentation, Concepts overview of memory management, reclaim and OOM killer",
        "swapon(8), files",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    host = system.host
    if host is None or host.memory.swap_total is None:
        return Unknown("whether the machine has swap")
    memory = host.memory
    if memory.swap_total:
        return NotHere(f"the machine has {format_bytes(memory.swap_total)} of swap")
    if host.container:
        return NotHere("a container's swap is its host's")
    if memory.available is None:
        return Unknown("how much memory is available")
    room = memory.available / memory.total
    numbers = (
        f"{format_bytes(memory.available)} of {format_bytes(memory.total)} available ({room:.0%}), no swap"
    )
    if room >= _ROOM:
        return Fine(f"{numbers}: enough")
    return finding(
        title=f"Memory is short and there is no swap: {room:.0%} available",
        evidence=(numbers, *_killed(host.kernel.counters.get("oom_kill"))),
        recommendation="lower the memory budget, and add a little swap, so that a peak is not fatal",
        changes=by_hand(
            "add a swap file of 2 GiB on ext4 or XFS, with vm.swappiness at 1",
            "df --human-readable /",
            "fallocate --length 2G /swapfile",
            "chmod 600 /swapfile",
            "mkswap /swapfile",
            "swapon /swapfile",
            "echo '/swapfile none swap sw 0 0' >> /etc/fstab",
        ),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium"),
    )


def _killed(count: int | None) -> tuple[str, ...]:
    return (f"the kernel has killed processes for lack of memory {count} times since boot",) if count else ()
