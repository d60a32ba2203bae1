"""Copy-on-write under pages that are written in place.

btrfs never overwrites: each flushed page goes to a new place and the trees above it are written anew. InnoDB
writes the same pages again and again, so a table falls into as many pieces as it has pages, and each sync
costs more. The attribute C of the folder (chattr +C) makes new files in it overwrite in place; it also leaves
out btrfs's checksums there, InnoDB having its own. Existing files keep what they were made with.
"""

from mydyno.advisor.rules import *

_IN_PLACE = ("data", "redo log", "undo")


def _judge(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    if storage is None or not storage.filesystems:
        return Unknown("the file systems under the server's files")
    points = {each.mount_point: each for each in storage.filesystems if each.kind == "btrfs"}
    uses = [use for use in storage.uses if use.mount_point in points and use.files in _IN_PLACE]
    if not uses:
        return NotHere("neither tables nor redo log lie on btrfs")
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
    return RULE.finding(
        title=f"btrfs writes every page of {', '.join(paths)} to a new place",
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
        effect=better(
            "throughput", "large", "flushes write one page where they wrote the page and the trees above it"
        ),
        risk="no checksums and no compression by btrfs for these files; snapshots copy once again",
        restart=True,
    )


RULE = Rule(
    checks="whether btrfs copies on write below tables and redo log",
    why="Random writes in place become new extents and new tree nodes: more I/O, and files in pieces.",
    expected="more writes, and less of them as time goes by",
    durability="none: InnoDB has a doublewrite buffer and checksums of its own",
    risk="btrfs's own checksums are left out for these files",
    sources=("btrfs(5), NODATACOW; file attributes", "chattr(1), C"),
    judge=_judge,
)
