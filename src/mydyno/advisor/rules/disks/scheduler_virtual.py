"""The I/O scheduler of a hypervisor's disks.

What the guest sees as one disk is a file, a volume or a network away; the hypervisor and the storage below
order requests with knowledge that the guest does not have. Sorting in the guest as well costs CPU and
latency. `none` (and noop before Linux 5.0) hands requests on; `mq-deadline` is cheap and keeps reads from
waiting behind writes where the disk's rate is limited, so it is left alone. bfq and cfq only add cost here.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.schedulers import SOURCES, Taste, judge_schedulers

_TASTE = Taste(
    kind="virtual",
    good=("none", "mq-deadline", "noop", "deadline", "kyber"),
    bad={
        "bfq": ("small", "sorts requests that the hypervisor sorts again"),
        "cfq": ("medium", "waits for more requests of the same process on a disk that may be solid-state"),
    },
)


@Rule(
    checks="whether a guest leaves the ordering of I/O to its hypervisor",
    why="The hypervisor orders the requests again, knowing more about the disk than the guest does.",
    expected="a little less CPU and latency for each I/O",
    sources=SOURCES,
)
def rule(system: System, _: Targets) -> Judgement:
    return judge_schedulers(system, _TASTE)
