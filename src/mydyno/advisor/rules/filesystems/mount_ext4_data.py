"""How ext4 treats the contents of files in its journal.

data=ordered, the default, writes contents before the metadata that points to them. data=journal writes every
byte twice, first to the journal, and switches O_DIRECT and delayed allocation off: InnoDB, which protects its
pages by its own redo log and doublewrite buffer, pays for the same safety a third time. data=writeback keeps
no order: after a crash a file that had grown may hold what was on the disk before, which InnoDB finds by its
checksums and other files do not. The option cannot be changed by a remount.
"""

from mydyno.advisor.rules import *

_KINDS = ("ext3", "ext4")


@Rule(
    checks="the journalling mode of ext4: data=ordered, journal or writeback",
    why="data=journal doubles all writes and forbids O_DIRECT; data=writeback keeps no order.",
    expected="half the writes without data=journal; a little safety without data=writeback",
    durability="keeps, or raises where it was data=writeback",
    risk="the file system must be remounted",
    sources=("ext4(5), data={journal|ordered|writeback}", "Linux kernel documentation, ext4, Data Mode"),
)
def rule(system: System, _: Targets) -> Judgement:
    mounted = require(places(system) or None, "the mount options under the server's files")
    extended = [filesystem for filesystem, _ in mounted if filesystem.kind in _KINDS]
    if not extended:
        return NotHere("none of the server's files is on ext4")
    for filesystem in extended:
        if "data=journal" in filesystem.options:
            return _journalled(filesystem)
    for filesystem in extended:
        if "data=writeback" in filesystem.options:
            return _unordered(filesystem)
    return Fine(
        f"{', '.join(filesystem.mount_point for filesystem in extended)}: contents are ordered (data=ordered)"
    )


def _by_hand(filesystem: FileSystem, option: str) -> ByHand:
    return ByHand(
        says=f"remove {option} from the line of {filesystem.mount_point} in /etc/fstab (for the root file "
        "system: from rootflags=), and remount it with the server stopped",
        commands=(f"tune2fs -l {filesystem.source} | grep 'Default mount options'",),
    )


def _journalled(filesystem: FileSystem) -> Finding:
    return finding(
        title=f"Every byte under {filesystem.mount_point} is written twice: data=journal",
        evidence=(
            f"{filesystem.mount_point} ({filesystem.kind}): data=journal; O_DIRECT and delayed allocation "
            "are off",
        ),
        recommendation="mount with data=ordered, the default",
        changes=(_by_hand(filesystem, "data=journal"),),
        severity=Severity.MEDIUM,
        effect=better("throughput", "large", "half of the bytes to write where the disk is the bottleneck"),
        restart=True,
    )


def _unordered(filesystem: FileSystem) -> Finding:
    return finding(
        title=f"After a crash files under {filesystem.mount_point} may hold old blocks: data=writeback",
        evidence=(f"{filesystem.mount_point} ({filesystem.kind}): data=writeback",),
        recommendation="mount with data=ordered, the default",
        changes=(_by_hand(filesystem, "data=writeback"),),
        effect=better(
            "safety",
            "small",
            "logs and tables of other engines are intact after a crash; InnoDB syncs what it needs",
        ),
        durability="raises",
        durability_says="files that had grown right before a crash hold what was written, or nothing",
        risk="somewhat slower writes to files that grow",
        restart=True,
    )
