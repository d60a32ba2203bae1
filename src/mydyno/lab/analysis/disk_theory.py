"""How many small random I/Os a second an array of limited disks can do, worked out from its layout,
and whether the disks are as fast as that: self-checks compared with theory. The tolerance of an environment
is in `core.grounds`; docs/reference/self-check.md explains it.

The idea is one of bottlenecks: an operation on the array costs each of its disks some reads and writes; the
array can do as many a second as its busiest disk can. Queues are taken to be deep enough to keep every disk
at work, caches to be passed by (direct I/O), and the place of each I/O to be random over the whole array.

Sources:

* Levels and what a small write costs on each: Patterson, Gibson and Katz, "A Case for Redundant Arrays of
  Inexpensive Disks (RAID)", SIGMOD 1988, sections 7 to 11.
* Where md lays the copies of RAID 10 (near, far, offset) and that linear fills one member after the other:
  md(4).
* Which of its two ways of a small write md takes (`parity_write`): handle_stripe_dirtying and
  need_this_block in Linux's drivers/md/raid5.c, as of Linux 4.1 to 6.12. The costs that follow were measured
  on Linux 6.1 (tests/lab/analysis/test_disk_theory.py has the figures).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import gcd
from typing import Literal

from mydyno.core.raid import PARITY, Raid, parity_disks
from mydyno.lab.results.records import Budget, Remark, SelfCheckRecord

DEVIATION = "self-check"
CPU_BOUND = "cpu-bound"
"""Names of the checks that a remark comes from."""

IDLE_FLOOR = 0.10
"""Share of CPU time below which the environment's CPUs, and not its disks, may be what was measured."""

_WORDS = {"randread": "random reads", "randwrite": "random writes"}


def remarks(checks: Iterable[SelfCheckRecord], tolerance: float) -> tuple[Remark, ...]:
    """What the checks of one trial found; empty when all is as expected, or nothing was."""
    return tuple(remark for check in checks for remark in _remarks(check, tolerance))


def load_text(check: SelfCheckRecord) -> str:
    """`data, 4K random writes`"""
    return f"{check.volume}, {check.block_bytes // 1024}K {_WORDS[check.operation]}"


def _remarks(check: SelfCheckRecord, tolerance: float) -> Iterator[Remark]:
    if check.error is not None:
        yield Remark(check=DEVIATION, message=f"{load_text(check)}: the check failed: {check.error}")
    elif check.ratio is not None and abs(check.ratio - 1) > tolerance:
        why = (
            "the limits of the disks are not enforced, or not every I/O reaches them"
            if check.ratio > 1
            else "something other than the disks' limits slows it down"
        )
        yield Remark(
            check=DEVIATION,
            message=f"{load_text(check)}: {check.measured_iops:.0f} IOPS, expected {check.expected_iops:.0f} "
            f"({check.ratio:.0%}; tolerance {tolerance:.0%}): {why}",
        )
    if check.idle is not None and check.idle < IDLE_FLOOR:
        yield Remark(
            check=CPU_BOUND,
            message=f"{load_text(check)}: this environment is CPU-bound at this load (CPUs {check.idle:.0%} "
            f"idle, {IDLE_FLOOR:.0%} are needed), so {_hidden(check.expected_iops is not None)}",
        )


def load_remarks(busy: float | None, own: float | None = None, *, limited: bool = True) -> tuple[Remark, ...]:
    """The same of the load. Shares of the environment's CPU time, 0 to 1, None when unknown: `busy` in total,
    `own` of the server and the client. `limited`: whether its disks have limits."""
    if busy is None or busy <= 1 - IDLE_FLOOR:
        return ()
    whose = "" if own is None else f", {min(own, busy):.0%} by the server and the load"
    message = f"the environment's CPUs were {busy:.0%} busy{whose}: {_hidden(limited)}"
    return (Remark(check=CPU_BOUND, message=message),)


def _hidden(limited: bool) -> str:
    """What cannot be seen on busy CPUs."""
    if limited:
        return "the disks' limits may not show"
    return "the CPUs, and not the disks, may be what was measured"


Operation = Literal["randread", "randwrite"]


@dataclass(frozen=True)
class LimitedDisk:
    """A disk with its limits; None where there is none. `budget` says how they count reads and writes."""

    iops: int | None
    bytes_per_second: int | None
    budget: Budget

    def per_second(self, block_bytes: int) -> float | None:
        """I/Os of this size that it may do a second; None when nothing limits it."""
        limits = [
            *([] if self.iops is None else [float(self.iops)]),
            *([] if self.bytes_per_second is None else [self.bytes_per_second / block_bytes]),
        ]
        return min(limits, default=None)


@dataclass(frozen=True)
class ArrayLayout:
    """The layout that md was configured with, and which of its disks have failed since."""

    level: Raid
    disks: int
    failed: tuple[int, ...] = ()
    """Those that are gone, 0-based in the order in which md was given them."""
    layout: str | None = None
    """md's name of a RAID 10 layout: `n2` (the default), `f2`, `o3`..."""


@dataclass(frozen=True)
class Cost:
    """Reads and writes of member disks that one I/O on the array needs, on the average over its places."""

    reads: float
    writes: float


def expected_iops(
    operation: Operation, block_bytes: int, array: ArrayLayout, disk: LimitedDisk
) -> float | None:
    """Random I/Os of `block_bytes` (at most a chunk, a page on levels 4 to 6) a second on the whole array.

    None: nothing limits the disks; there is no theory for this state (a degraded RAID 4, where it depends on
    which disk is gone); or the array has lost data. On linear, a file is taken to lie on one member.
    """
    rate = disk.per_second(block_bytes)
    if rate is None:
        return None
    if array.level in PARITY:
        if len(array.failed) > parity_disks(array.level):
            return None
        if array.level == 4:
            return None if array.failed else _dedicated_parity(operation, array.disks, disk.budget) * rate
        cost = parity_read(array) if operation == "randread" else parity_write(array)
        # Parity goes round, so all that are left share the work evenly.
        return (array.disks - len(array.failed)) * rate / _busiest(cost, disk.budget)
    living = [members.difference(array.failed) for members in _copies(array)]
    if not all(living):
        return None
    return rate * (_mirrored_reads(living) if operation == "randread" else _mirrored_writes(living))


def small_write_way(disks: int, parity_disks: int) -> Literal["read-modify-write", "reconstruct-write"]:
    """How md updates parity for a small write on a whole array: whichever reads fewer disks.

    Read-modify-write reads the old block and its parity; reconstruct-write reads the other data blocks of
    the stripe. At a tie md reconstructs.
    """
    modify, reconstruct = 1 + parity_disks, disks - parity_disks - 1
    return "read-modify-write" if modify < reconstruct else "reconstruct-write"


def parity_read(array: ArrayLayout) -> Cost:
    """RAID 5 and 6. For a block of a failed disk md reads that stripe's block of every disk that is left, one
    more than a RAID 6 with one failed disk would need."""
    lost, left = len(array.failed) / array.disks, array.disks - len(array.failed)
    return Cost(reads=(1 - lost) + lost * left, writes=0)


def parity_write(array: ArrayLayout) -> Cost:
    """RAID 5 and 6: the mean over every way in which the failed disks can fall on a stripe."""
    parity = parity_disks(array.level)
    roles = ["target", *["parity"] * parity, *["other"] * (array.disks - parity - 1)]
    cases = [
        _small_write(roles, frozenset(failed))
        for failed in combinations(range(array.disks), len(array.failed))
    ]
    return Cost(
        reads=sum(case.reads for case in cases) / len(cases),
        writes=sum(case.writes for case in cases) / len(cases),
    )


def _small_write(roles: list[str], failed: frozenset[int]) -> Cost:
    """One block written on a stripe whose disks have these roles."""
    kept = [role for place, role in enumerate(roles) if place not in failed]
    gone = {roles[place] for place in failed}
    parity, disks = roles.count("parity"), len(roles)
    writes = kept.count("target") + kept.count("parity")
    if len(failed) > 1 and gone & {"target", "parity"}:
        return Cost(reads=len(kept), writes=writes)
    if not gone:
        modify = small_write_way(disks, parity) == "read-modify-write"
        return Cost(reads=1 + parity if modify else disks - parity - 1, writes=writes)
    if "other" in gone:
        return Cost(reads=1 + parity, writes=writes)
    return Cost(reads=kept.count("other"), writes=writes)


def _dedicated_parity(operation: Operation, disks: int, budget: Budget) -> float:
    """RAID 4, in rates of one disk: data on all but one, and every write passes by that one."""
    data = disks - 1
    if operation == "randread":
        return data
    modify = small_write_way(disks, 1) == "read-modify-write"
    on_data = Cost(reads=1 if modify else disks - 2, writes=1)
    on_parity = Cost(reads=1 if modify else 0, writes=1)
    return min(data / _busiest(on_data, budget), 1 / _busiest(on_parity, budget))


def _busiest(cost: Cost, budget: Budget) -> float:
    """I/Os against the budget that runs out first."""
    return cost.reads + cost.writes if budget == "joint" else max(cost.reads, cost.writes)


def _copies(array: ArrayLayout) -> Iterator[frozenset[int]]:
    """The members that hold each block, for every placement that the layout has, all equally frequent, in
    the order of the ring of members."""
    disks = array.disks
    if array.level in ("none", "linear"):
        yield frozenset({0})
    elif array.level == 0:
        yield from (frozenset({member}) for member in range(disks))
    elif array.level == 1:
        yield frozenset(range(disks))
    else:
        kind, copies = _raid10_layout(array.layout)
        step = gcd(disks, copies) if kind == "n" else 1
        for first in range(0, disks, step):
            yield frozenset((first + copy) % disks for copy in range(copies))


def _raid10_layout(layout: str | None) -> tuple[str, int]:
    name = layout or "n2"
    return name[0], int(name[1:])


def _mirrored_reads(living: list[frozenset[int]]) -> float:
    """In rates of one disk, when each read goes to that copy whose disk has the shortest queue.

    Reads of a group of placements can use only the disks that hold them. The scarcest group limits all (the
    theorem of Hall, as maximum flow and minimum cut); connected groups are arcs of the ring of members.
    """
    count = len(living)
    arcs = (
        [living[(start + step) % count] for step in range(length)]
        for start in range(count)
        for length in range(1, count + 1)
    )
    return min(len(frozenset().union(*arc)) * count / len(arc) for arc in arcs)


def _mirrored_writes(living: list[frozenset[int]]) -> float:
    """In rates of one disk: a write goes to every copy that is left."""
    members = frozenset().union(*living)
    return min(len(living) / sum(member in copies for copies in living) for member in members)
