"""`elevator=` on the kernel's command line.

Guides from the time of noop, deadline and cfq set it in the boot loader. Linux 5.0 removed those schedulers
with the queue that the parameter was for, and 5.4 the parameter: it is accepted and ignored, so a machine
that seems tuned is not. The scheduler is chosen for each disk in sysfs, and kept by a udev rule.
"""

from mydyno.advisor.machine import kernel_number
from mydyno.advisor.rules import *

_IGNORED_SINCE = (5, 0)


@Rule(
    checks="whether the kernel's command line sets elevator=",
    why="It has no effect since Linux 5.0: the disks keep their default scheduler.",
    expected="a kernel command line without dead options",
    sources=(
        "Linux kernel documentation, kernel parameters, elevator=",
        "Microsoft Azure documentation, Optimize MySQL Performance on Azure Linux VMs, which sets it",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    kernel = require(system.host, "the kernel's command line").kernel
    if not kernel.command_line:
        return Unknown("the kernel's command line")
    words = [word for word in kernel.command_line if word.startswith("elevator=")]
    if not words:
        return Fine("the kernel's command line has no elevator=")
    number = require(kernel_number(kernel), "the kernel's release")
    if number < _IGNORED_SINCE:
        return Fine(f"{words[0]} may take effect in kernel {kernel.release}, for disks without blk-mq")
    return finding(
        title=f"{words[0]} has no effect: the kernel is {kernel.release}",
        evidence=(f"command line: {words[0]}; without effect since Linux 5.0, removed in 5.4",),
        recommendation="remove it, and let the scheduler rules of each disk decide",
        changes=by_hand(
            f"remove {words[0]} from the boot loader's settings", "editor /etc/default/grub", "update-grub"
        ),
        effect=better("insight", "small"),
    )
