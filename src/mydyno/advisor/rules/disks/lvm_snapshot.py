"""Snapshots of the data's logical volume.

The first write to each chunk after a snapshot copies the old chunk first: read it, write it to the snapshot,
note that, then write. Each further snapshot does so again. A snapshot for a backup should be gone when the
backup is done; one that fills up becomes invalid, and the backup with it.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="whether the data's logical volume has snapshots",
    why="Each first write to a chunk is preceded by copying the old one, for every snapshot.",
    expected="random writes at the speed of the disks",
    risk="a removed snapshot is gone",
    sources=("Linux kernel documentation, Device-mapper snapshot support", "lvmraid(7), lvcreate(8)"),
)
def rule(system: System, _: Targets) -> Judgement:
    data, volume = data_volume(system)
    if volume is None or volume.snapshots is None:
        return Unknown(f"the snapshots of {data.volume}")
    if not volume.snapshots:
        return Fine(f"{volume.name} has no snapshot")
    if volume.segment == "thin":
        return Fine(
            f"{volume.name} is thin: its {volume.snapshots} snapshot(s) share blocks, and cost little"
        )
    count = volume.snapshots
    return finding(
        title=f"{count} snapshot(s) of {volume.name} make first writes {1 + 2 * count} I/Os instead of 1",
        evidence=(f"1 write + {count} x (1 read and 1 write of the old chunk), once for each chunk",),
        recommendation="remove snapshots that no backup needs any more",
        changes=by_hand(
            "find old snapshots and remove them",
            "lvs --options lv_name,origin,data_percent,lv_time",
            "lvremove VG/SNAPSHOT",
        ),
        severity=Severity.MEDIUM,
        effect=better("throughput", "medium" if count == 1 else "large"),
    )
