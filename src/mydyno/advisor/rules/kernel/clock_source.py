"""How dear it is to ask what time it is.

The server asks several times for each statement, and far more often with performance_schema's timers. With
tsc, kvm-clock, Hyper-V's page and ARM's counter the answer is read without entering the kernel, in some tens
of nanoseconds. hpet and acpi_pm read a slow device behind a system call, in a microsecond or more; xen's
clock enters the kernel too. The kernel falls back to those when it finds the tsc unstable, which the kernel's
log tells.
"""

from mydyno.advisor.rules import *

_SLOW = ("hpet", "acpi_pm", "xen", "jiffies", "refined-jiffies", "pit")
_FILE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


def _judge(system: System, _: Targets) -> Judgement:
    kernel = system.host.kernel if system.host else None
    if kernel is None or kernel.clock_source is None:
        return Unknown(_FILE)
    now = kernel.clock_source
    if now not in _SLOW:
        return Fine(f"the clock is {now}")
    offered = "tsc" in kernel.clock_sources
    return RULE.finding(
        title=f"Asking for the time is slow: the clock is {now}",
        evidence=(
            f"current_clocksource = {now}; there is: {', '.join(kernel.clock_sources) or 'not known'}",
        ),
        recommendation="use tsc" if offered else "find out why the kernel does not trust tsc",
        changes=by_hand(
            "switch to tsc now, and by clocksource=tsc on the kernel's command line for later"
            if offered
            else "look in the kernel's log for why tsc is not offered",
            *((f"echo tsc > {_FILE}",) if offered else ("dmesg | grep -i -e tsc -e clocksource",)),
        ),
        severity=Severity.MEDIUM,
        effect=better(
            "throughput",
            "medium",
            "the time is read in tens of nanoseconds, not in microseconds by a system call",
        ),
        risk="where the kernel marked tsc unstable, time may jump between CPUs",
    )


RULE = Rule(
    checks="which clock the kernel reads the time from",
    why="The server reads the time many times for each statement; some clocks cost a thousand times more "
    "than others.",
    expected="less CPU time in the kernel, more throughput with performance_schema on",
    risk="an unstable tsc makes time jump",
    sources=(
        "Linux kernel documentation, kernel parameters, clocksource= and tsc=",
        "vdso(7), Linux manual page",
    ),
    judge=_judge,
)
