"""Whether reading a file writes.

With strictatime each read of a file changes its access time, which is written later. relatime, the kernel's
default since 2.6.30, does so only once a day or when the file was changed since: a table's file that is
written anyway has its inode written anyway, and one that is only read has it once a day. That is nearly free,
and noatime on top of it is hard to measure; where the old guides promised much, they compared with the
default of their time.
"""

from mydyno.advisor.rules import *

_KINDS = ("ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "reiserfs", "f2fs")
_CHEAP = ("noatime", "relatime")


@Rule(
    checks="whether reads change access times: strictatime, relatime or noatime",
    why="With strictatime each read of a table's file dirties its inode, which is written to the journal.",
    expected="no inode is written for a read; nothing that can be measured with relatime before",
    risk="programs that rely on access times, as some mail readers do, see none",
    sources=(
        "mount(8), noatime, relatime, strictatime",
        "Microsoft Azure documentation, Optimize MySQL Performance on Azure Linux VMs (noatime)",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    mounted = require(places(system) or None, "the mount options under the server's files")
    local = [(filesystem, files) for filesystem, files in mounted if filesystem.kind in _KINDS]
    if not local:
        return NotHere("none of these file systems keeps access times on a disk of this machine")
    strict = [(filesystem, files) for filesystem, files in local if not set(_CHEAP) & set(filesystem.options)]
    if not strict:
        return Fine(
            ", ".join(
                f"{filesystem.mount_point}: {next(word for word in _CHEAP if word in filesystem.options)}"
                for filesystem, _ in local
            )
        )
    return finding(
        title=f"Every read of a file on {', '.join(filesystem.mount_point for filesystem, _ in strict)} "
        "writes its time",
        evidence=tuple(
            f"{filesystem.mount_point} ({files}): neither relatime nor noatime, so strictatime"
            for filesystem, files in strict
        ),
        recommendation="mount with noatime",
        changes=tuple(
            SetMountOptions(
                mount_point=filesystem.mount_point,
                add=("noatime",),
                remove=("strictatime",),
                was=filesystem.options,
            )
            for filesystem, _ in strict
        ),
        effect=better("throughput", "small"),
    )
