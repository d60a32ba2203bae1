"""The I/O scheduler of SSDs behind SATA or SAS.

They have one queue of about 32 requests and no head to move. `none` and `mq-deadline` (the kernel's default
for disks of one queue) are both right: the first costs a little less, the second keeps reads from waiting
behind a flood of writes. bfq is made for the desktop: it gives each process its fair share and costs CPU
for it.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.schedulers import SOURCES, Taste, judge_schedulers

_TASTE = Taste(
    kind="ssd",
    good=("none", "mq-deadline", "noop", "deadline", "kyber"),
    bad={
        "bfq": ("small", "shares the disk fairly between processes, of which only one counts here, for CPU"),
        "cfq": ("medium", "waits for more requests of the same process while the disk is idle"),
    },
)


@Rule(
    checks="whether SSDs have a suitable scheduler",
    why="An SSD has no head to move: sorting costs CPU and gains nothing.",
    expected="a little less CPU and latency for each I/O",
    sources=SOURCES,
)
def rule(system: System, _: Targets) -> Judgement:
    return judge_schedulers(system, _TASTE)
