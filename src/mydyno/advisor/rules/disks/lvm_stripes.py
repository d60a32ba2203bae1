"""A logical volume that fills one disk after the other.

A linear volume over several disks puts neighbouring data on the same one: the busy tables share one disk's
I/O while the others are idle. A striped volume (lvcreate --stripes) or an array below it spreads the load.
Like RAID 0, and like a linear volume, it needs all of its disks.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="whether the data's logical volume uses all of its disks at once",
    why="A linear volume puts neighbouring data, and its load, on one disk.",
    expected="the I/O of all disks",
    risk="needs space for both volumes while the data moves",
    sources=("lvcreate(8), --stripes", "lvm(8), segment types"),
)
def rule(system: System, _: Targets) -> Judgement:
    data, volume = data_volume(system)
    if volume is None or volume.segment is None:
        return Unknown(f"how {data.volume} is laid out")
    if data.array:
        return NotHere(f"{data.array} below the volume spreads the load")
    if volume.segment != "linear" or len(data.disks) < 2:
        stripes = f", {volume.stripes} stripes" if volume.stripes else ""
        size = f" of {format_bytes(volume.stripe_bytes)}" if volume.stripe_bytes else ""
        return Fine(f"{volume.name}: {volume.segment}{stripes}{size}, {len(data.disks)} disk(s)")
    disks = ", ".join(data.disks)
    return finding(
        title=f"{volume.name} fills {len(data.disks)} disks one after the other",
        evidence=(f"{volume.name} is linear over {disks}",),
        recommendation="a volume with as many stripes as disks",
        changes=by_hand(
            "create a striped volume and move the data there",
            f"lvcreate --stripes {len(data.disks)} --stripesize 512k --size SIZE --name data VG",
        ),
        effect=better(
            "throughput",
            "medium",
            f"up to {len(data.disks)} times the I/O where the busy tables are on one disk",
        ),
    )
