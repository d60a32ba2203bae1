"""Copy-on-write under pages that are written in place.

btrfs never overwrites: each flushed page goes to a new place and the trees above it are rewritten. InnoDB
writes the same pages again and again, so a table is fragmented down to single pages, and each sync costs
more. The attribute C of the folder (chattr +C) makes new files in it overwrite in place; it also leaves out
btrfs's checksums there, InnoDB having its own. Existing files are not changed.
"""

from mydyno.advisor.rules import *

_IN_PLACE = ("data", "redo log", "undo")


@Rule(
    checks="whether btrfs copies on write below tables and redo log",
    why="Random writes in place become new extents and new tree nodes: more I/O and fragmented files.",
    expected="flushes write one page instead of the page and the trees above it: more write throughput that "
    "does not decline over time",
    durability="none: InnoDB has its own doublewrite buffer and checksums",
    risk="no checksums and no compression by btrfs for these files",
    sources=("btrfs(5), NODATACOW; file attributes", "chattr(1), C"),
)
def rule(system: System, _: Targets) -> Judgement:
    storage = require(system.host, "the file systems under the server's files").storage
    if not storage.filesystems:
        return Unknown("the file systems under the server's files")
    points = {
        filesystem.mount_point: filesystem for filesystem in storage.filesystems if filesystem.kind == "btrfs"
    }
    uses = [use for use in storage.uses if use.mount_point in points and use.files in _IN_PLACE]
    if not uses:
        return NotHere("neither tables nor redo log are on btrfs")
    copying = [
        use
        for use in uses
        if use.no_copy_on_write is False and "nodatacow" not in points[use.mount_point].options
    ]
    if not copying:
        if any(use.no_copy_on_write is None for use in uses):
            return Unknown("the attribute C of the server's folders")
        return Fine("the server's files are written in place (attribute C, or nodatacow)")
    paths = tuple(dict.fromkeys(use.path for use in copying))
    return finding(
        title=f"btrfs copies on write in {', '.join(paths)}",
        evidence=tuple(f"{use.files} in {use.path}: copy-on-write (no attribute C)" for use in copying),
        recommendation="copy the files into a folder with the attribute C",
        changes=by_hand(
            "with the server stopped, copy the files into a folder with the attribute C",
            *tuple(
                line
                for path in paths
                for line in (
                    f"mv {path} {path}.old",
                    f"mkdir {path}",
                    f"chattr +C {path}",
                    f"cp --archive --reflink=never {path}.old/. {path}/",
                    f"chown --reference={path}.old {path}",
                )
            ),
        ),
        severity=Severity.MEDIUM,
        effect=better("throughput", "large"),
        restart=True,
    )
