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


def _judge(system: System, _: Targets) -> Judgement:
    found = places(system)
    if not found:
        return Unknown("the mount options under the server's files")
    local = [(each, files) for each, files in found if each.kind in _KINDS]
    if not local:
        return NotHere("none of these file systems keeps access times on a disk of this machine")
    strict = [(each, files) for each, files in local if not set(_CHEAP) & set(each.options)]
    if not strict:
        return Fine(
            ", ".join(
                f"{each.mount_point}: {next(word for word in _CHEAP if word in each.options)}"
                for each, _ in local
            )
        )
    return RULE.finding(
        title=f"Every read of a file on {', '.join(each.mount_point for each, _ in strict)} writes its time",
        evidence=tuple(
            f"{each.mount_point} ({files}): neither relatime nor noatime, so strictatime"
            for each, files in strict
        ),
        recommendation="mount with noatime",
        changes=tuple(
            SetMountOptions(
                mount_point=each.mount_point, add=("noatime",), remove=("strictatime",), was=each.options
            )
            for each, _ in strict
        ),
        severity=Severity.LOW,
        effect=better("throughput", "small", "no inode is written for a read"),
        risk="programs that go by access times, as some mail readers do, see none",
    )


RULE = Rule(
    checks="whether reads change access times: strictatime, relatime or noatime",
    why="With strictatime each read of a table's file dirties its inode, which is written to the journal.",
    expected="a little with strictatime before; nothing that can be measured with relatime before",
    risk="no access times",
    sources=(
        "mount(8), noatime, relatime, strictatime",
        "Microsoft Azure documentation, Optimize MySQL Performance on Azure Linux VMs (noatime)",
    ),
    judge=_judge,
)
