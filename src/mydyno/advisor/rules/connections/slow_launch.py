"""Threads that took longer than slow_launch_time (2 s) to be made.

Making a thread takes microseconds. When it takes seconds the machine is short of CPU, of memory (it swaps)
or of what limits allow, and everything else is slow as well: the server only happens to notice it here.
"""

from mydyno.advisor.rules import *

_COUNTER = "Slow_launch_threads"
_MANY = 10


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    slow = server.counter(_COUNTER)
    if slow is None:
        return Unknown(_COUNTER)
    if (server.number("slow_launch_time") or 0) < 1:
        return Unknown("slow_launch_time is below a second: every thread counts as slow")
    if slow < _MANY and not server.grown(_COUNTER):
        return Fine(f"{slow:.0f} threads were slow to start {uptime(server)}")
    return RULE.finding(
        title=f"{slow:.0f} threads took seconds to start: the machine is starved",
        evidence=(
            f"{_COUNTER} = {slow:.0f} {uptime(server)}, each longer than slow_launch_time ="
            f" {server.text('slow_launch_time')} s",
        ),
        recommendation="look for what starves the machine: CPU, swap, limits on processes",
        changes=by_hand(
            "watch CPU, swap and pressure of the machine while it happens",
            "vmstat 1",
            "cat /proc/pressure/cpu /proc/pressure/memory",
        ),
        severity=Severity.MEDIUM,
        effect=better("insight", "small", "the cause lies under the server"),
    )


RULE = Rule(
    checks="Slow_launch_threads",
    why="A thread that takes seconds to start tells of a machine without CPU or memory to spare.",
    expected="insight",
    sources=(
        "MySQL Reference Manual, Server Status Variables, Slow_launch_threads",
        "MariaDB Documentation, Server Status Variables, Slow_launch_threads",
    ),
    judge=_judge,
)
