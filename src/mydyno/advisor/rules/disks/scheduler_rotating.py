"""The I/O scheduler of rotating disks.

A rotating disk does much more work when requests come in the order of their positions. `mq-deadline` sorts
them, prefers reads, and lets none starve; the disk's own queue of 32 sorts the rest. `none` leaves all of
it to the disk. kyber does not sort at all. bfq sorts too, and shares the disk between processes: it is
right where a backup must not starve the server, and slower where the server is alone. noop, deadline and
cfq of the old guides are gone since Linux 5.0. Behind a controller with its own cache, the controller sorts
and the choice hardly matters.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.schedulers import Taste, judge_schedulers

_TASTE = Taste(
    kind="rotating",
    good=("mq-deadline", "deadline", "bfq"),
    bad={
        "none": ("medium", "sorts nothing: only the disk's own short queue does"),
        "noop": ("medium", "sorts nothing: only the disk's own short queue does"),
        "kyber": ("medium", "does not sort by position: it is made for solid-state disks"),
        "cfq": ("small", "waits for more requests of the same process; a server's threads are many"),
    },
)


@Rule(
    checks="whether rotating disks get their requests sorted",
    why="Each seek costs milliseconds, and a deep sorted queue has shorter seeks.",
    expected="more throughput under a deep queue; nothing with one request at a time",
    risk="behind a controller with its own cache the gain is smaller",
    sources=(
        "Linux kernel documentation, Deadline IO scheduler tunables",
        "Linux kernel documentation, Switching Scheduler",
        "Microsoft Azure documentation, Optimize MySQL Performance on Azure Linux VMs (noop, deadline)",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    return judge_schedulers(system, _TASTE)
