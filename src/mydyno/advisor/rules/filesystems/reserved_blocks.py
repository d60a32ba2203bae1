"""How much space ext4 reserves for root.

5% of an ext4 file system can be used by root alone, unless it was made otherwise: on the system's own disk
that lets an administrator log in when it is full; on a volume of terabytes for a database, which does not
run as root, it is space that was paid for and cannot be used. 1% is enough for ext4 to find free blocks
near each other.
"""

from mydyno.advisor.rules import *

_MUCH_PART, _MUCH_BYTES = 0.03, 5 << 30


@Rule(
    checks="how much of the data's ext4 file system is reserved for root",
    why="The server does not run as root: what is reserved is space that it cannot use.",
    expected="a few per cent more space; no effect on speed",
    risk="less is left for root when the disk is full",
    sources=("tune2fs(8), -m", "mke2fs(8), -m"),
)
def rule(system: System, _: Targets) -> Judgement:
    mounted = require(places(system) or None, "the file systems under the server's files")
    own = [
        filesystem
        for filesystem, _ in mounted
        if filesystem.kind in ("ext3", "ext4") and filesystem.mount_point != "/"
    ]
    if not own:
        return NotHere("the server has no separate ext4 file system")
    known = [
        filesystem for filesystem in own if filesystem.reserved_bytes is not None and filesystem.size_bytes
    ]
    if not known:
        return Unknown("what is reserved for root")
    much = [
        filesystem
        for filesystem in known
        if _bytes(filesystem) >= _MUCH_BYTES and _part(filesystem) >= _MUCH_PART
    ]
    lines = tuple(
        f"{filesystem.mount_point}: {format_bytes(_bytes(filesystem))} of "
        f"{format_bytes(filesystem.size_bytes or 0)} "
        f"({_part(filesystem):.1%}) for root alone"
        for filesystem in known
    )
    if not much:
        return Fine("; ".join(lines))
    total = sum(_bytes(filesystem) for filesystem in much)
    gained = total - sum(filesystem.size_bytes or 0 for filesystem in much) // 100
    return finding(
        title=f"{format_bytes(total)} of the data's disk are reserved for root, which the server is not",
        evidence=lines,
        recommendation="keep 1%",
        changes=by_hand(
            "lower the reservation, which works while it is mounted",
            *tuple(f"tune2fs -m 1 {filesystem.source}" for filesystem in much),
        ),
        effect=better("disk space", "medium", f"about {format_bytes(gained)} more space"),
    )


def _bytes(filesystem: FileSystem) -> int:
    return filesystem.reserved_bytes or 0


def _part(filesystem: FileSystem) -> float:
    return _bytes(filesystem) / (filesystem.size_bytes or 1)
