"""Whether part of the server is in swap.

It was swapped out when memory was short, and each page costs a disk read at its next use, often under a
latch that other threads wait for. A few megabytes unused since the start do no harm. The solution is less
memory in use (the memory budget), not more swap; swapped pages come back one by one, or at once by swapoff.
"""

from mydyno.advisor.rules import *

_HARMLESS_BYTES = 64 << 20
_HARMLESS_PART = 0.01


@Rule(
    checks="how much of the server's memory is in swap",
    why="InnoDB expects its pool in memory: a page in swap is slower than one that was never cached, "
    "since latches are held while it is read.",
    expected="no latency peaks caused by swap",
    risk="swapoff causes a memory shortage when the swapped pages do not fit",
    sources=("proc(5), /proc/pid/status, VmSwap", "MySQL Reference Manual, How MySQL Uses Memory"),
)
def rule(system: System, _: Targets) -> Judgement:
    host = system.host
    if host is None or host.process is None or host.process.swapped_bytes is None:
        return Unknown("how much of the server is in swap (VmSwap of /proc/PID/status)")
    if host.memory.swap_total == 0 and not host.process.swapped_bytes:
        return NotHere("this machine has no swap")
    swapped, resident = host.process.swapped_bytes, host.process.resident_bytes or 0
    part = swapped / (swapped + resident) if swapped else 0.0
    numbers = f"{format_bytes(swapped)} of the server are in swap, {format_bytes(resident)} in memory"
    if swapped < _HARMLESS_BYTES or part < _HARMLESS_PART:
        return Fine(f"{numbers} ({part:.1%}): negligible")
    moved = host.kernel.counters.get("pswpin")
    return finding(
        title=f"{format_bytes(swapped)} of the server is in swap",
        evidence=(
            f"{numbers}: {part:.0%}",
            f"{moved} pages were read back from swap since boot (pswpin)" if moved else None,
        ),
        recommendation="bring the memory budget below what the machine has, then swap the pages in",
        changes=by_hand(
            "after memory has been freed, swap the pages in at once, at a quiet hour",
            "swapoff --all",
            "swapon --all",
        ),
        severity=Severity.HIGH,
        effect=better(
            "latency",
            "large" if part > 0.1 else "medium",
            f"no disk read for {part:.0%} of the server's memory",
        ),
    )
