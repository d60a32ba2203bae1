"""Threads that took longer than slow_launch_time (2 s) to be made.

Making a thread takes microseconds. When it takes seconds the machine is short of CPU, of memory (it swaps)
or of what limits allow, and everything else is slow as well: the server only happens to notice it here.
"""

from __future__ import annotations

from mydyno.advisor.counts import uptime
from mydyno.advisor.rule import Fine, Judgement, Rule, Unknown
from mydyno.advisor.targets import Targets
from mydyno.apply.change import ByHand
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.survey.facts import System

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
    return Finding(
        rule=RULE.id,
        title=f"{slow:.0f} threads took seconds to start: the machine is starved",
        evidence=(
            f"{_COUNTER} = {slow:.0f} {uptime(server)}, each longer than slow_launch_time ="
            f" {server.text('slow_launch_time')} s",
        ),
        recommendation="look for what starves the machine: CPU, swap, limits on processes",
        changes=(
            ByHand(
                says="watch CPU, swap and pressure of the machine while it happens",
                commands=("vmstat 1", "cat /proc/pressure/cpu /proc/pressure/memory"),
            ),
        ),
        severity=Severity.MEDIUM,
        effect=Effect(
            aspect="insight", direction="better", size="small", says="the cause lies under the server"
        ),
    )


RULE = Rule(
    id="slow-launch",
    layer="threads",
    checks="Slow_launch_threads",
    why="A thread that takes seconds to start tells of a machine without CPU or memory to spare.",
    expected="insight",
    durability="none",
    risk="none known",
    sources=(
        "MySQL Reference Manual, Server Status Variables, Slow_launch_threads",
        "MariaDB Documentation, Server Status Variables, Slow_launch_threads",
    ),
    judge=_judge,
)
