"""A logical volume that fills one disk after the other.

A linear volume over several disks puts neighbouring data on the same one: the busy tables share one disk's
I/O and the others idle. A striped volume (lvcreate --stripes) or an array below it shares the work out. Like
RAID 0 it needs all of its disks, as the linear one does too.
"""

from mydyno.advisor.rules import *


def _judge(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    data = storage.of("data") if storage else None
    if storage is None or data is None:
        return Unknown("the file system of the data")
    if not data.volume:
        return NotHere("the data does not lie on a logical volume")
    volume = next((each for each in storage.volumes if each.name == data.volume), None)
    if volume is None or volume.segment is None:
        return Unknown(f"how {data.volume} is laid out")
    if data.array:
        return NotHere(f"{data.array} below the volume shares the work out")
    if volume.segment != "linear" or len(data.disks) < 2:
        stripes = f", {volume.stripes} stripes" if volume.stripes else ""
        size = f" of {format_bytes(volume.stripe_bytes)}" if volume.stripe_bytes else ""
        return Fine(f"{volume.name}: {volume.segment}{stripes}{size}, {len(data.disks)} disk(s)")
    disks = ", ".join(data.disks)
    return RULE.finding(
        title=f"{volume.name} fills {len(data.disks)} disks one after the other",
        evidence=(f"{volume.name} is linear over {disks}",),
        recommendation="a volume with as many stripes as disks",
        changes=by_hand(
            "make a striped volume and move the data there, at a renewal or beside the old one",
            f"lvcreate --stripes {len(data.disks)} --stripesize 512k --size SIZE --name data VG",
        ),
        severity=Severity.LOW,
        effect=better(
            "throughput",
            "medium",
            f"up to {len(data.disks)} times the I/O where the busy tables lie on one disk",
        ),
        risk="needs room for both volumes while the data moves",
    )


RULE = Rule(
    checks="whether the data's logical volume uses all of its disks at once",
    why="A linear volume leaves the work of neighbouring data to one disk.",
    expected="the I/O of all disks",
    risk="the data has to move",
    sources=("lvcreate(8), --stripes", "lvm(8), segment types"),
    judge=_judge,
)
