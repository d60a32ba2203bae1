"""Whether the file system knows the stripes of a parity array below it.

RAID 5 and 6 write a full stripe without reading first. A file system that knows chunk and data disks
(ext4's stride and stripe width, XFS's sunit and swidth) places large files and its own metadata so that
long writes fill stripes. mkfs reads them from the array; it cannot when the file system came before the
array, or when something in between hides it. Single pages gain nothing: they are smaller than any stripe.
"""

from mydyno.advisor.rules import *
from mydyno.core.raid import BY_MD_NAME

_PARITY = {name: level.parity_disks for name, level in BY_MD_NAME.items() if level.parity_disks}
"""Disks' worth of parity."""
_KNOWS = {"ext4": "stripe=", "xfs": "swidth="}
"""The option in force that says so."""
_BLOCK = 4096


@Rule(
    checks="whether ext4 or XFS on a parity array knows chunk and stripe",
    why="A full-stripe write needs no reads first; the file system can only align to a stripe that it knows.",
    expected="long writes (loads, logs, backups) fill stripes more often; nothing for single pages",
    risk="applies to what is written from then on",
    sources=(
        "ext4(5) and tune2fs(8), -E stride and stripe_width",
        "xfs(5), sunit and swidth",
        "md(4), RAID5",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    parity = require(arrays(system, *_PARITY), "the disks under the server's files")
    known = {array.name: array for array in parity if array.chunk_bytes}
    pairs = [
        (filesystem, known[filesystem.array])
        for filesystem, _ in places(system)
        if filesystem.array in known and filesystem.kind in _KNOWS
    ]
    if not pairs:
        return NotHere("no ext4 or XFS of the server is on a software array with parity")
    blind = [
        (filesystem, array)
        for filesystem, array in pairs
        if not any(option.startswith(_KNOWS[filesystem.kind]) for option in filesystem.options)
    ]
    if not blind:
        return Fine(
            f"{', '.join(filesystem.mount_point for filesystem, _ in pairs)}: the file system knows the "
            "stripes"
        )
    return finding(
        title=f"{', '.join(filesystem.mount_point for filesystem, _ in blind)}: it does not know the "
        "stripes below",
        evidence=tuple(_arithmetic(filesystem, array) for filesystem, array in blind),
        recommendation="set the chunk and the stripe in the file system",
        changes=tuple(_by_hand(filesystem, array) for filesystem, array in blind),
        effect=better("throughput", "small"),
    )


def _data_disks(array: Array) -> int:
    return max(1, array.devices - _PARITY[array.level])


def _arithmetic(filesystem: FileSystem, array: Array) -> str:
    chunk = array.chunk_bytes or 0
    stripe = chunk * _data_disks(array)
    return (
        f"{filesystem.mount_point} ({filesystem.kind}) on {array.name} ({array.level}): "
        f"{format_bytes(chunk)} chunk x "
        f"{_data_disks(array)} data disks = {format_bytes(stripe)} a stripe; no {_KNOWS[filesystem.kind]} "
        "in force"
    )


def _by_hand(filesystem: FileSystem, array: Array) -> ByHand:
    chunk, disks = array.chunk_bytes or 0, _data_disks(array)
    if filesystem.kind == "ext4":
        stride = chunk // _BLOCK
        return ByHand(
            says="write the stripe into the superblock; it applies from the next mount",
            commands=(f"tune2fs -E stride={stride},stripe_width={stride * disks} {filesystem.source}",),
        )
    return ByHand(
        says=f"mount {filesystem.mount_point} once with "
        f"sunit={chunk // 512},swidth={chunk // 512 * disks}, which "
        "XFS keeps; where it was made with another unit it refuses, and only mkfs helps"
    )
