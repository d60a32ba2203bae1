"""The CPUs and disks of a machine over an interval: counters of /proc, read at both ends."""

from __future__ import annotations

import time
from dataclasses import dataclass

from mydyno.machine import proc
from mydyno.survey.facts import DiskLoad, Load
from mydyno.survey.host.machine import Machine


@dataclass(frozen=True)
class Counters:
    at: float
    """Seconds of a clock that only goes forward."""
    stat: str
    diskstats: str


def read_counters(machine: Machine) -> Counters | None:
    """Past what the machine keeps of files, as these change. None: they may not be read."""
    at = time.monotonic()
    texts = [machine.run(["cat", f"/proc/{name}"]) for name in ("stat", "diskstats")]
    stat, diskstats = ("" if done is None or done.returncode else done.stdout for done in texts)
    return Counters(at, stat, diskstats) if stat else None


def load_between(before: Counters | None, after: Counters | None) -> Load | None:
    """None: not read, or no time between them. Pure."""
    if before is None or after is None:
        return None
    seconds = after.at - before.at
    earlier, later = proc.cpu_seconds(before.stat), proc.cpu_seconds(after.stat)
    grown = {mode: max(0.0, number - earlier.get(mode, 0.0)) for mode, number in later.items()}
    whole = sum(grown.values())
    if seconds <= 0 or not whole:
        return None
    idle, waiting, stolen = (grown.get(mode, 0.0) / whole for mode in ("idle", "iowait", "steal"))
    return Load(
        seconds=round(seconds, 3),
        cpus=proc.cpu_count(after.stat),
        cpu_busy=round(max(0.0, 1 - idle - waiting - stolen), 4),
        cpu_waiting=round(waiting, 4),
        cpu_stolen=round(stolen, 4),
        disks=_disks(before.diskstats, after.diskstats, seconds),
    )


def _disks(before: str, after: str, seconds: float) -> tuple[DiskLoad, ...]:
    earlier = proc.disks(before)
    return tuple(
        DiskLoad(
            name=name,
            busy=round(min(1.0, (now.busy_s - then.busy_s) / seconds), 4),
            reads=round((now.reads - then.reads) / seconds, 2),
            writes=round((now.writes - then.writes) / seconds, 2),
        )
        for name, now in proc.disks(after).items()
        if (then := earlier.get(name)) is not None
    )
