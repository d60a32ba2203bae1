"""Threads that took longer than slow_launch_time (2 s) to start.

Starting a thread takes microseconds. When it takes seconds, the machine is short of CPU or memory (it
swaps), or a limit is reached, and everything else is slow as well.
"""

from mydyno.advisor.rules import *

_COUNTER = "Slow_launch_threads"
_MANY = 10


@Rule(
    checks="Slow_launch_threads",
    why="A thread that takes seconds to start shows that the machine has no CPU or memory to spare.",
    expected="the cause is the machine, not the server",
    sources=(
        "MySQL Reference Manual, Server Status Variables, Slow_launch_threads",
        "MariaDB Documentation, Server Status Variables, Slow_launch_threads",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    slow = require(server.counter(_COUNTER), _COUNTER)
    if (server.number("slow_launch_time") or 0) < 1:
        return Unknown("slow_launch_time is below a second: every thread counts as slow")
    if slow < _MANY and not server.grown(_COUNTER):
        return Fine(f"{slow:.0f} threads were slow to start {uptime(server)}")
    return finding(
        title=f"{slow:.0f} threads took seconds to start: the machine is overloaded",
        evidence=(
            f"{_COUNTER} = {slow:.0f} {uptime(server)}, each longer than slow_launch_time ="
            f" {server.text('slow_launch_time')} s",
        ),
        recommendation="find what the machine is short of: CPU, memory (swap), processes",
        changes=by_hand(
            "watch CPU, swap and pressure stall information while it happens",
            "vmstat 1",
            "cat /proc/pressure/cpu /proc/pressure/memory",
        ),
        severity=Severity.MEDIUM,
        effect=better("insight", "small"),
    )
