"""What ext4 keeps for root.

5% of an ext4 file system can be used by root alone, unless it was made otherwise: on the system's own disk
that lets an administrator log in when it is full; on a volume of terabytes for a database, which does not run
as root, it is space that was paid for and cannot be used. 1% is enough for ext4 to find free blocks near
each other.
"""

from mydyno.advisor.rules import *

_MUCH_PART, _MUCH_BYTES = 0.03, 5 << 30


def _judge(system: System, _: Targets) -> Judgement:
    found = places(system)
    if not found:
        return Unknown("the file systems under the server's files")
    own = [each for each, _ in found if each.kind in ("ext3", "ext4") and each.mount_point != "/"]
    if not own:
        return NotHere("the server has no ext4 file system of its own")
    known = [each for each in own if each.reserved_bytes is not None and each.size_bytes]
    if not known:
        return Unknown("what is reserved for root")
    much = [each for each in known if _bytes(each) >= _MUCH_BYTES and _part(each) >= _MUCH_PART]
    lines = tuple(
        f"{each.mount_point}: {format_bytes(_bytes(each))} of {format_bytes(each.size_bytes or 0)} "
        f"({_part(each):.1%}) for root alone"
        for each in known
    )
    if not much:
        return Fine("; ".join(lines))
    total = sum(_bytes(each) for each in much)
    gained = total - sum(each.size_bytes or 0 for each in much) // 100
    return RULE.finding(
        title=f"{format_bytes(total)} of the data's disk are kept for root, which the server is not",
        evidence=lines,
        recommendation="keep 1%",
        changes=by_hand(
            "lower what is reserved, which goes while it is mounted",
            *tuple(f"tune2fs -m 1 {each.source}" for each in much),
        ),
        severity=Severity.LOW,
        effect=better("disk space", "medium", f"about {format_bytes(gained)} more space"),
        risk="less is left for root when the disk is full",
    )


def _bytes(each: FileSystem) -> int:
    return each.reserved_bytes or 0


def _part(each: FileSystem) -> float:
    return _bytes(each) / (each.size_bytes or 1)


RULE = Rule(
    checks="how much of the data's ext4 file system is reserved for root",
    why="The server does not run as root: what is reserved is space that it cannot use.",
    expected="some per cent more space; no speed",
    risk="a full disk leaves root less room",
    sources=("tune2fs(8), -m", "mke2fs(8), -m"),
    judge=_judge,
)
