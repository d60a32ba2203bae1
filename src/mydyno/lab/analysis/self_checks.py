"""Whether the disks are as fast as configured: self-checks compared with theory.

The tolerance of an environment is in `core.grounds`; docs/reference/self-check.md explains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mydyno.lab.results.records import Remark, SelfCheckRecord

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
