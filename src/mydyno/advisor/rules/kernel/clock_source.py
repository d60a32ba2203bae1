"""How expensive it is to read the clock.

The server reads the clock several times for each statement, and far more often with performance_schema's
timers. With tsc, kvm-clock, Hyper-V's page and ARM's counter it is read without entering the kernel, in
tens of nanoseconds. hpet and acpi_pm read a slow device behind a system call, in a microsecond or more;
xen's clock enters the kernel too. The kernel falls back to those when it finds the tsc unstable, as the
kernel's log says.
"""

from mydyno.advisor.rules import *

_SLOW = ("hpet", "acpi_pm", "xen", "jiffies", "refined-jiffies", "pit")
_FILE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


@Rule(
    checks="which clock source the kernel uses",
    why="The server reads the time many times for each statement; some clocks cost a thousand times more "
    "than others.",
    expected="the clock is read in tens of nanoseconds instead of microseconds: more throughput with "
    "performance_schema on",
    risk="where the kernel considers tsc unstable, time may jump between CPUs",
    sources=(
        "Linux kernel documentation, kernel parameters, clocksource= and tsc=",
        "vdso(7), Linux manual page",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    kernel = require(system.host, _FILE).kernel
    if kernel.clock_source is None:
        return Unknown(_FILE)
    now = kernel.clock_source
    if now not in _SLOW:
        return Fine(f"the clock is {now}")
    offered = "tsc" in kernel.clock_sources
    return finding(
        title=f"Reading the clock is slow: the clock source is {now}",
        evidence=(
            f"current_clocksource = {now}; available: {', '.join(kernel.clock_sources) or 'not known'}",
        ),
        recommendation="use tsc" if offered else "find out why the kernel does not trust tsc",
        changes=by_hand(
            "switch to tsc now, and by clocksource=tsc on the kernel's command line for later"
            if offered
            else "look in the kernel's log for why tsc is not offered",
            *((f"echo tsc > {_FILE}",) if offered else ("dmesg | grep -i -e tsc -e clocksource",)),
        ),
        severity=Severity.MEDIUM,
        effect=better("throughput", "medium"),
    )
