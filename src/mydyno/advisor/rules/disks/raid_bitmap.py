"""The write-intent bitmap of an array.

Before the first write to a region its bit must be on the disks, so that after a crash only marked regions
are resynced, in minutes instead of hours. With an internal bitmap of small regions random writes mark new
ones all the time, and each mark is a synchronous write on every disk, at the same place. Larger regions
(mdadm's own choice is 64M) mark less often; RAID 1, 5, 6 and 10 with no bitmap at all read everything after
a crash.
"""

from mydyno.advisor.rules import *
from mydyno.core.raid import BY_MD_NAME

_REDUNDANT = tuple(name for name, level in BY_MD_NAME.items() if level.is_redundant)
_SMALL = 64 << 20
_WANTED = "256M"


@Rule(
    checks="whether redundant arrays have a write-intent bitmap, and how fine it is",
    why="A fine bitmap costs a synchronous write for many random writes; without one a crash costs hours.",
    expected="more random writes, or a short resync",
    durability="none: the bitmap says what to compare after a crash, not what is written",
    risk="a coarser bitmap resyncs more after a crash",
    sources=(
        "md(4), Bitmap write-intent logging",
        "mdadm(8), --bitmap, --bitmap-chunk",
        "Linux commit 8745faa95611, md: Use optimal I/O size for last bitmap page, with its measurements",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    redundant = require(arrays(system, *_REDUNDANT), "the disks under the server's files")
    if not redundant:
        return NotHere("no file of the server is on a redundant software array")
    known = [array for array in redundant if array.bitmap is not None]
    if not known:
        return Unknown("the bitmaps of the arrays")
    for array in known:
        if array.bitmap == "none":
            return _missing(array)
        size = array.bitmap_chunk_bytes
        if array.bitmap == "internal" and size is not None and size < _SMALL:
            return _fine_grained(array, size)
    return Fine(", ".join(f"{array.name}: {_described(array)}" for array in known))


def _described(array: Array) -> str:
    size = array.bitmap_chunk_bytes
    return f"bitmap {array.bitmap}" + (f", a bit for {format_bytes(size)}" if size else "")


def _fine_grained(array: Array, size: int) -> Finding:
    device = f"/dev/{array.name}"
    return finding(
        title=f"The bitmap of {array.name} is fine: a bit for each {format_bytes(size)}",
        evidence=(
            f"{array.name} ({array.level}): {_described(array)}",
            f"a bit for {_WANTED} is set {(256 << 20) // size} times less often, if writes spread evenly",
        ),
        recommendation=f"a bit for {_WANTED}: more to resync after a crash, fewer writes before",
        changes=by_hand(
            "recreate the bitmap, which works while the array is in use",
            f"mdadm --grow {device} --bitmap=none",
            f"mdadm --grow {device} --bitmap=internal --bitmap-chunk={_WANTED}",
        ),
        effect=better(
            "throughput",
            "medium",
            "fewer synchronous bitmap writes under random writes; measure it on your disks",
        ),
        risk="a crash between the two commands means a full resync",
    )


def _missing(array: Array) -> Finding:
    device = f"/dev/{array.name}"
    return finding(
        title=f"{array.name} has no bitmap: after a crash all of it is resynced",
        evidence=(f"{array.name} ({array.level}, {array.devices} disks): bitmap none",),
        recommendation=f"an internal bitmap with a bit for {_WANTED}",
        changes=by_hand(
            "add a bitmap, which works while the array is in use",
            f"mdadm --grow {device} --bitmap=internal --bitmap-chunk={_WANTED}",
        ),
        effect=better(
            "stability",
            "medium",
            "minutes instead of hours of resync after a crash, for a few per cent of random writes",
        ),
        risk="random writes become somewhat slower: writes mark the bitmap first",
    )
