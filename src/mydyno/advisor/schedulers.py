"""How the four rules on I/O schedulers judge, one for each kind of disk: only the taste differs."""

from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.advisor.rule import Fine, Judgement, NotHere, Unknown, better, finding
from mydyno.apply.change import SetQueue
from mydyno.apply.finding import Severity, Size
from mydyno.survey.facts import Disk, System
from mydyno.survey.facts.storage import DiskKind

SOURCES = (
    "Linux kernel documentation, Multi-Queue Block IO Queueing Mechanism (blk-mq)",
    "Linux kernel documentation, Switching Scheduler",
    "Microsoft Azure documentation, Optimize MySQL Performance on Azure Linux VMs (noop, deadline)",
)
"""Of the rules on disks that do not rotate."""


@dataclass(frozen=True)
class Taste:
    """What suits one kind of disk. noop, deadline and cfq are names of kernels before 5.0."""

    kind: DiskKind
    good: tuple[str, ...]
    """In order: the first that the disk offers is advised; each of them is left as it is."""
    bad: Mapping[str, tuple[Size, str]]
    """Of others: how much better the good ones are, and why, as it goes on after the scheduler's name."""


def judge_schedulers(system: System, taste: Taste) -> Judgement:
    storage = system.host.storage if system.host else None
    disks = [disk for disk in storage.server_disks() if disk.kind == taste.kind] if storage else []
    if storage is None or not storage.disks:
        return Unknown("the disks under the server's files")
    if not disks:
        return NotHere(f"none of the server's files is on a disk of the kind {taste.kind}")
    known = [disk for disk in disks if disk.scheduler is not None]
    if not known:
        return Unknown(f"the scheduler of {', '.join(disk.name for disk in disks)}")
    wrong = [(disk, wanted) for disk in known if (wanted := _wanted(disk, taste)) is not None]
    if not wrong:
        return Fine(", ".join(f"{disk.name}: {disk.scheduler}" for disk in known))
    names = dict.fromkeys(disk.scheduler or "" for disk, _ in wrong)
    sizes = [taste.bad[name][0] for name in names]
    size: Size = "medium" if "medium" in sizes or "large" in sizes else "small"
    return finding(
        title=f"{' and '.join(names)} schedules the I/O of {', '.join(disk.name for disk, _ in wrong)}",
        evidence=(
            *(
                f"{disk.name} ({disk.model or taste.kind}): {disk.scheduler}, "
                f"offers {', '.join(disk.schedulers)}"
                for disk, _ in wrong
            ),
            *(f"{name} {taste.bad[name][1]}" for name in names),
        ),
        recommendation=", ".join(f"{disk.name}: {wanted}" for disk, wanted in wrong),
        changes=tuple(
            SetQueue(disk=disk.name, attribute="scheduler", value=wanted, was=disk.scheduler)
            for disk, wanted in wrong
        ),
        severity=Severity.LOW if size == "small" else Severity.MEDIUM,
        effect=better(
            "latency",
            size,
            "sorted requests, and none that starves"
            if taste.kind == "rotating"
            else "less CPU and queue time for each I/O",
        ),
        risk="also changes the order of other programs' I/O on the same disk",
    )


def _wanted(disk: Disk, taste: Taste) -> str | None:
    """What this disk should have; None where it has it, or offers nothing better."""
    if disk.scheduler in taste.good or disk.scheduler not in taste.bad:
        return None
    return next((name for name in taste.good if name in disk.schedulers), None)
