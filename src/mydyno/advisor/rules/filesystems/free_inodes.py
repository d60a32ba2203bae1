"""How many more files a file system can hold.

ext4 fixes their number when it is made. A table is a file, a partition is a file, each binary log is one:
with many schemas of many partitioned tables they can run out while there is space, and CREATE TABLE fails
with `No space left on device`. XFS makes inodes as it goes, and btrfs has no such number.
"""

from mydyno.advisor.rules import *

_SHORT, _NONE = 0.05, 0.01


@Rule(
    checks="how many more files each file system under the server can hold",
    why="Without a free inode no file can be created, whatever space is left.",
    expected="no `No space left on device` on a disk that has space",
    sources=("ext4(5), Linux manual page", "mke2fs(8), -i bytes-per-inode", "df(1), --inodes"),
)
def rule(system: System, _: Targets) -> Judgement:
    mounted = require(places(system) or None, "the file systems under the server's files")
    counted = [
        (filesystem.mount_point, filesystem.free_inodes / filesystem.inodes, filesystem.free_inodes)
        for filesystem, _ in mounted
        if filesystem.inodes and filesystem.free_inodes is not None
    ]
    if not counted:
        return NotHere("these file systems have no fixed number of files")
    lines = tuple(f"{point}: space for {free} more files ({part:.0%})" for point, part, free in counted)
    point, part, free = min(counted, key=lambda pair: pair[1])
    if part >= _SHORT:
        return Fine("; ".join(lines))
    return finding(
        title=f"{point} has space for {free} more files ({part:.1%})",
        evidence=lines,
        recommendation="remove unneeded files, or move to a file system with more inodes",
        changes=by_hand(
            "find the folders with the most files",
            f"du --inodes --one-file-system {point} | sort --numeric-sort | tail",
        ),
        severity=Severity.CRITICAL if part < _NONE else Severity.HIGH,
        effect=better("stability", "medium"),
    )
