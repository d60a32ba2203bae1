"""What is lost when one disk fails.

On RAID 0 or a linear array of n disks every one of them is needed, so the array fails n times as often as a
disk; on a single disk it is the disk. What is left then is the last backup, the binary log if it lies
elsewhere, and replicas. Virtual disks are kept redundant by most providers, and an array of those can be
RAID 0 for speed.
"""

from mydyno.advisor.rules import *
from mydyno.core.raid import BY_MD_NAME

_NONE = tuple(name for name, level in BY_MD_NAME.items() if not level.is_redundant)


@Rule(
    checks="whether the data survives the failure of one disk",
    why="Without a mirror or parity the failure of any disk ends the database; n striped disks fail n times "
    "as often as one.",
    expected="a failing disk is replaced while the server runs; reads can use both halves",
    durability="raises: committed transactions survive a disk failure",
    risk="half of the disks' space; rebuilding an array erases it",
    sources=("md(4), RAID0, RAID1, RAID10", "MySQL Reference Manual, Optimizing Disk I/O"),
)
def rule(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    data = storage.of("data") if storage else None
    if storage is None or data is None or not storage.disks_of(data):
        return Unknown("the disks under the data")
    disks, array = storage.disks_of(data), storage.array_of(data)
    if all(disk.kind == "virtual" for disk in disks):
        return NotHere("the disks are virtual: the hypervisor provides their redundancy")
    if array and array.level not in _NONE:
        return Fine(f"{array.name} is {array.level} over {array.devices} disks")
    if data.kind in ("btrfs", "zfs") and len(disks) > 1:
        return Unknown(f"how {data.kind} spreads the data over its {len(disks)} disks")
    what = f"{array.level} over {array.devices} disks" if array else f"{len(disks)} disk(s) without an array"
    copies = _copies(system.server)
    apart = _binary_log_apart(storage)
    return finding(
        title=f"One failing disk takes the data with it: {what}",
        evidence=(
            f"{data.mount_point}: {what} ({', '.join(disk.name for disk in disks)})",
            f"copies elsewhere that the server knows of: {copies or 'none'}",
            f"the binary log is on other disks: {'yes' if apart else 'no'}",
        ),
        recommendation="mirror the disks (RAID 1 or 10), or have replicas and tested backups",
        changes=by_hand("put the data on RAID 1 or RAID 10 when the storage is next renewed"),
        severity=Severity.LOW if copies or not array else Severity.HIGH,
        effect=better("safety", "large"),
        durability="raises",
        durability_says="committed transactions survive the failure of a disk",
    )


def _copies(server: Server) -> str:
    role = server.role
    known = {
        "a source that this server replicates from": role.replica,
        "replicas": role.source,
        "a Galera cluster": role.galera,
        "a replication group": role.group_replication,
    }
    there = ", ".join(name for name, there in known.items() if there)
    return there or ("not known" if None in known.values() else "")


def _binary_log_apart(storage: Storage) -> bool:
    log, data = storage.of("binary log"), storage.of("data")
    return bool(log and data and log.disks and not set(log.disks) & set(data.disks))
