"""The file system of the server's files.

ext4 and XFS are what MySQL and MariaDB are run and tested on. Others are old (ext2 has no journal, ext3 no
extents, ReiserFS left the kernel in 6.13 and cannot be mounted after an upgrade, JFS is hardly maintained),
not made for it (FAT and NTFS know no owners), not on this machine (NFS and others: locks and syncs work
differently there), or not persistent: tmpfs is lost with the power, an overlay with its container.
"""

from dataclasses import dataclass

from mydyno.advisor.rules import *
from mydyno.apply.finding import Aspect

_GOOD = ("ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs")


@dataclass(frozen=True)
class _Verdict:
    severity: Severity
    aspect: Aspect
    size: Size
    because: str
    instead: str = "move the files to ext4 or XFS"


_LOST = "put the data on a separate disk: a volume of the container, a mounted file system"
_NETWORK = _Verdict(
    Severity.MEDIUM,
    "latency",
    "medium",
    "is on another machine: each commit crosses the network, and its syncs and locks are only as good as "
    "that server and the mount's options (hard, intr off, NFS 4)",
    "move the files to a local disk, or use `hard` and a server that syncs",
)
_FOREIGN = _Verdict(
    Severity.HIGH, "safety", "large", "knows neither owners nor reliable syncs as a server needs them"
)
_VERDICTS = {
    "ext2": _Verdict(Severity.HIGH, "safety", "large", "has no journal: after a crash it must be checked"),
    "ext3": _Verdict(
        Severity.LOW, "throughput", "small", "has no extents; the kernel runs it by the driver of ext4"
    ),
    "reiserfs": _Verdict(
        Severity.HIGH, "safety", "medium", "was removed in Linux 6.13: a kernel after it cannot mount it"
    ),
    "jfs": _Verdict(Severity.LOW, "safety", "small", "is hardly maintained any more"),
    "tmpfs": _Verdict(Severity.CRITICAL, "safety", "large", "is memory: a reboot empties it", _LOST),
    "ramfs": _Verdict(Severity.CRITICAL, "safety", "large", "is memory: a reboot empties it", _LOST),
    "overlay": _Verdict(
        Severity.CRITICAL,
        "safety",
        "large",
        "is the container's own layer: it goes with the container",
        _LOST,
    ),
    **dict.fromkeys(("nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "glusterfs", "virtiofs"), _NETWORK),
    **dict.fromkeys(("vfat", "msdos", "exfat", "ntfs", "ntfs3", "fuseblk"), _FOREIGN),
}
_MATTERS = {"data", "redo log", "binary log", "undo"}


@Rule(
    checks="the kind of the file systems under data, redo log, binary log and undo",
    why="Some lose data by design, some are unmaintained, some are slower; ext4 and XFS are usual.",
    expected="files on a file system that is safe and usual for a server; between ext4 and XFS the "
    "difference is small",
    durability="raises, where the data was in memory or in a container's layer",
    risk="moving the files needs downtime, or a replica that takes over",
    sources=(
        "MySQL Reference Manual, Using NFS with MySQL; Optimizing Disk I/O",
        "Linux kernel documentation, Filesystems: ext4, XFS, overlay, tmpfs",
        "Linux 6.13 changes: reiserfs removed",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    mounted = [
        (filesystem, files) for filesystem, files in places(system) if _MATTERS & set(files.split(", "))
    ]
    if not mounted:
        return Unknown("the file systems under the server's files")
    numbers = [f"{filesystem.mount_point} ({files}): {filesystem.kind}" for filesystem, files in mounted]
    judged = [
        (filesystem, _VERDICTS[filesystem.kind]) for filesystem, _ in mounted if filesystem.kind in _VERDICTS
    ]
    if not judged:
        strange = [filesystem.kind for filesystem, _ in mounted if filesystem.kind not in _GOOD]
        return Unknown(f"how {', '.join(strange)} serves a database") if strange else Fine("; ".join(numbers))
    worst, verdict = max(judged, key=lambda pair: pair[1].severity)
    return finding(
        title=f"{worst.kind} under {worst.mount_point} {verdict.because}",
        evidence=tuple(numbers),
        recommendation=verdict.instead,
        changes=by_hand(f"stop the server, {verdict.instead}, and change datadir or the mount"),
        severity=verdict.severity,
        effect=better(verdict.aspect, verdict.size),
        durability="raises" if verdict.aspect == "safety" else "keeps",
        durability_says="the data survives what it does not survive now"
        if verdict.aspect == "safety"
        else None,
    )
