"""The I/O scheduler of NVMe disks.

Such a disk has many queues and orders its own work; there is no head to move. `none` hands requests on as
they come, on the CPU where they were made, and is the kernel's own default there. `kyber` limits the depth
to keep reads fast during heavy writes, and can be worth a try. mq-deadline and bfq put all requests of a
disk through one ordered queue: that lock is what limits them at hundreds of thousands of requests a second;
below that the difference is small.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.schedulers import SOURCES, Taste, judge_schedulers

_TASTE = Taste(
    kind="nvme",
    good=("none", "noop", "kyber"),
    bad={
        "mq-deadline": (
            "small",
            "puts every request through one ordered queue, which costs CPU at high rates",
        ),
        "deadline": ("small", "puts every request through one ordered queue, which costs CPU at high rates"),
        "bfq": ("medium", "accounts each request to its process, which costs the most CPU of all schedulers"),
        "cfq": ("medium", "waits for more requests of the same process while the disk is idle"),
    },
)


@Rule(
    checks="whether NVMe disks get requests unsorted",
    why="An NVMe disk orders its own queues; sorting before costs CPU and a lock, and gains nothing.",
    expected="a little less CPU and latency for each I/O; more only at very high rates",
    sources=SOURCES,
)
def rule(system: System, _: Targets) -> Judgement:
    return judge_schedulers(system, _TASTE)
