"""Whether the file system knows the stripes of a parity array below it.

RAID 5 and 6 write a full stripe without reading first. A file system that knows chunk and data disks (ext4's
stride and stripe width, XFS's sunit and swidth) places large files and its own metadata so that long writes
fill stripes. mkfs asks the array by itself; it cannot when the file system came before the array, or when
something in between hides it. Single pages gain nothing: they are smaller than any stripe.
"""

from mydyno.advisor.rules import *
from mydyno.core.raid import BY_MD_NAME

_PARITY = {name: level.parity_disks for name, level in BY_MD_NAME.items() if level.parity_disks}
"""Disks' worth of parity."""
_KNOWS = {"ext4": "stripe=", "xfs": "swidth="}
"""The option in force that says so."""
_BLOCK = 4096


def _judge(system: System, _: Targets) -> Judgement:
    parity = arrays(system, *_PARITY)
    if parity is None:
        return Unknown("the disks under the server's files")
    known = {array.name: array for array in parity if array.chunk_bytes}
    pairs = [
        (each, known[each.array]) for each, _ in places(system) if each.array in known and each.kind in _KNOWS
    ]
    if not pairs:
        return NotHere("no ext4 or XFS of the server lies on a software array with parity")
    blind = [
        (each, array)
        for each, array in pairs
        if not any(option.startswith(_KNOWS[each.kind]) for option in each.options)
    ]
    if not blind:
        return Fine(f"{', '.join(each.mount_point for each, _ in pairs)}: the file system knows the stripes")
    return RULE.finding(
        title=f"{', '.join(each.mount_point for each, _ in blind)}: it does not know the stripes below",
        evidence=tuple(_arithmetic(each, array) for each, array in blind),
        recommendation="tell the file system the chunk and the stripe",
        changes=tuple(_by_hand(each, array) for each, array in blind),
        severity=Severity.LOW,
        effect=better(
            "throughput",
            "small",
            "long writes (loads, logs, backups) fill stripes more often; single pages do not",
        ),
        risk="holds for what is written from then on",
    )


def _data_disks(array: Array) -> int:
    return max(1, array.devices - _PARITY[array.level])


def _arithmetic(each: FileSystem, array: Array) -> str:
    chunk = array.chunk_bytes or 0
    stripe = chunk * _data_disks(array)
    return (
        f"{each.mount_point} ({each.kind}) on {array.name} ({array.level}): {format_bytes(chunk)} chunk x "
        f"{_data_disks(array)} data disks = {format_bytes(stripe)} a stripe; no {_KNOWS[each.kind]} in force"
    )


def _by_hand(each: FileSystem, array: Array) -> ByHand:
    chunk, disks = array.chunk_bytes or 0, _data_disks(array)
    if each.kind == "ext4":
        stride = chunk // _BLOCK
        return ByHand(
            says="write the stripe into the superblock; it counts from the next mount on",
            commands=(f"tune2fs -E stride={stride},stripe_width={stride * disks} {each.source}",),
        )
    return ByHand(
        says=f"mount {each.mount_point} once with sunit={chunk // 512},swidth={chunk // 512 * disks}, which "
        "XFS keeps; where it was made with another unit it refuses, and only mkfs helps"
    )


RULE = Rule(
    checks="whether ext4 or XFS on a parity array knows chunk and stripe",
    why="A write that fills a stripe needs no reading before it; a file system aims at what it knows.",
    expected="somewhat faster long writes; nothing for single pages",
    sources=(
        "ext4(5) and tune2fs(8), -E stride and stripe_width",
        "xfs(5), sunit and swidth",
        "md(4), RAID5",
    ),
    judge=_judge,
)
