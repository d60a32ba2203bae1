"""Impossible arrays: what md and btrfs refuse, reported before anything is built.

Each rule was tried with mdadm 4.2 on a kernel 6.1, or is in the page it names. Combinations of a volume's
keys that make no sense are each reported at its key, with the way out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mydyno.core.document.base import Fault, clash
from mydyno.core.document.sizes import written_size
from mydyno.core.nearest import nearest
from mydyno.core.plurals import counted
from mydyno.core.raid import ALLOWED, RAID_LEVELS, REDUNDANT, STRIPED, WITH_LAYOUTS, level_title
from mydyno.core.server_files import kinds_on
from mydyno.core.units import format_bytes
from mydyno.lab.spec.arrays import (
    SMALLEST,
    SMALLEST_STRIPED_XFS,
    Array,
    array_of,
    most_failures,
    option_value,
    raid10_copies,
    stripe_of,
    usable_bytes,
)

if TYPE_CHECKING:
    from mydyno.lab.spec.storage import Storage, Volume

_ATIME = ("atime", "noatime", "relatime", "strictatime")
_LAYOUTS_OF_10 = ("n2", "f2", "o2", "n3", "f3", "o3")


def volume_faults(volume: Volume) -> Iterator[Fault]:
    """Everything about the combination of the keys of `volume`, each of which is right for itself."""
    redundancy = Redundancy(volume.bitmap, volume.consistency_policy, volume.fail, volume.rebuild)
    asked = Format(volume.filesystem, volume.data_profile, volume.metadata_profile)
    impossible = list(impossible_array(array_of(volume), redundancy, asked))
    for each in impossible:
        written = each.key in volume.model_fields_set and each.key != "disks"
        close = _likely(volume, each)
        yield Fault(each.message, each.allowed, close, at=(each.key,), show_value=written, whole=True)
    yield from _options(volume)
    if not impossible:
        yield from _room(volume)


def _likely(volume: Volume, impossible: Impossible) -> str | None:
    """What was probably meant by a value that no array takes."""
    if impossible.key == "chunk" and volume.chunk is not None:
        lower = 1 << (volume.chunk.bit_length() - 1)
        return written_size(lower if volume.chunk - lower <= 2 * lower - volume.chunk else 2 * lower)
    if impossible.key == "layout" and volume.layout is not None:
        words = {"near": "n2", "far": "f2", "offset": "o2"}
        name, _, copies = volume.layout.partition("=")
        if volume.raid == 10 and name in words:
            return f"{name[0]}{copies}" if copies in ("2", "3") else words[name]
        return nearest(volume.layout, _LAYOUTS_OF_10 if volume.raid == 10 else PARITY_LAYOUTS)
    if impossible.key in ("data_profile", "metadata_profile"):
        profile = str(getattr(volume, impossible.key))
        folded = profile.lower().replace("-", "").replace(" ", "")
        return None if profile in PROFILES else folded if folded in PROFILES else nearest(profile, PROFILES)
    return None


def _options(volume: Volume) -> Iterator[Fault]:
    if volume.filesystem == "raw":
        for key in ("mkfs", "mount"):
            if getattr(volume, key):
                yield clash(key, f"{key} is given, but raw is without a file system", "another filesystem")
    kinds = [option for option in volume.mount if option in _ATIME]
    if len(kinds) > 1:
        yield clash("mount", f"{' and '.join(kinds)} exclude each other", f"one of {', '.join(_ATIME)}")


def _room(volume: Volume) -> Iterator[Fault]:
    """A volume on which mkfs would refuse to make the file system."""
    kind = volume.filesystem
    if kind == "raw" or volume.disks.devices:
        return
    # What spreads by itself needs room on each disk.
    alone = kind == "btrfs" and volume.raid == "none"
    room = volume.disks.size if alone else usable_bytes(volume)
    # What the user says of the device (-d) is mkfs's to judge: fewer allocation groups fit.
    judged = option_value(volume.mkfs, "-d") is None
    striped = kind == "xfs" and judged and stripe_of(array_of(volume)) is not None
    least = SMALLEST_STRIPED_XFS if striped else SMALLEST[kind]
    if room is not None and room < least:
        where = "each disk" if alone else "the volume"
        named = f"{kind} on stripes" if striped else kind
        message = f"{named} needs {format_bytes(least)} at least, and {where} has {format_bytes(room)}"
        yield clash("disks", message, "larger disks, or another filesystem")


def storage_faults(storage: Storage) -> Iterator[Fault]:
    """What is wrong between the volumes."""
    taken: dict[str, str] = {}
    for name, volume in storage.volumes.items():
        if name != "data" and volume.filesystem == "raw":
            fault = f"the {name} volume cannot be raw: it is for files ({', '.join(kinds_on(name))})"
            yield Fault(fault, "a file system", at=(name, "filesystem"), show_value=False, whole=True)
        for index, device in enumerate(volume.disks.devices):
            other = taken.setdefault(device.id, name)
            if other != name:
                spot = (name, "disks", "devices", index, "id")
                yield Fault(f"the disk is one of {other} too", "each disk once", at=spot, whole=True)


PARITY_LAYOUTS = (
    "left-symmetric",
    "left-asymmetric",
    "right-symmetric",
    "right-asymmetric",
    "ls",
    "la",
    "rs",
    "ra",
    "parity-first",
    "parity-last",
)
"""Names that md takes for RAID 5 and 6 (mdadm(8), --layout), without those of other makers' formats."""

SMALLEST_CHUNK = 4096

# mkfs.btrfs(8), "Profiles": the column of the fewest devices.
PROFILES = {
    "single": 1,
    "dup": 1,
    "raid0": 1,
    "raid1": 2,
    "raid1c3": 3,
    "raid1c4": 4,
    "raid10": 2,
    "raid5": 2,
    "raid6": 3,
}


@dataclass(frozen=True)
class Impossible:
    """Why a volume cannot be built, and the key of the volume that should be changed."""

    key: str
    message: str
    allowed: str | None = None


@dataclass(frozen=True)
class Redundancy:
    """How an array keeps its copies true, and what is done to them. None: not written."""

    bitmap: str | None = None
    consistency_policy: str | None = None
    fail: int = 0
    rebuild: bool = False


@dataclass(frozen=True)
class Format:
    """The file system on the array, with btrfs's own profiles. None: not written."""

    filesystem: str
    data_profile: str | None = None
    metadata_profile: str | None = None


def impossible_array(array: Array, redundancy: Redundancy, written: Format) -> Iterator[Impossible]:
    """Everything about the volume that cannot be built or would be without effect."""
    yield from _number_of_disks(array, written)
    yield from _chunk(array)
    layout = list(_layout(array))
    yield from layout
    yield from _consistency(array, redundancy)
    if not layout:
        yield from _failures(array, redundancy)
    yield from _profiles(array, written)


def _number_of_disks(array: Array, written: Format) -> Iterator[Impossible]:
    if array.raid == "none":
        if array.disks > 1 and written.filesystem != "btrfs":
            message = f"{written.filesystem} cannot use {array.disks} disks without an array"
            yield Impossible("raid", message, f"{ALLOWED}, or btrfs as the file system")
        return
    fewest = RAID_LEVELS[array.raid].fewest_disks
    if array.disks < fewest:
        message = f"{level_title(array.raid)} needs {fewest} disks, not {array.disks}"
        if array.raid == 5 and array.disks == 2:
            message += ": of two it would be a mirror, which is RAID 1"
        yield Impossible("disks", message, f"at least {fewest} disks")


def _chunk(array: Array) -> Iterator[Impossible]:
    """mdadm(8), --chunk: a power of two for RAID 4, 5, 6 and 10, a multiple of 4K for RAID 0."""
    if array.chunk is None:
        return
    if array.raid not in STRIPED:
        message = (
            f"{level_title(array.raid)} has no chunks" if array.raid != "none" else "no array, no chunks"
        )
        yield Impossible("chunk", message, "leave chunk out")
    elif array.chunk < SMALLEST_CHUNK or array.chunk % SMALLEST_CHUNK:
        yield Impossible("chunk", f"md takes no chunk of {format_bytes(array.chunk)}", "a multiple of 4K")
    elif array.raid != 0 and array.chunk & (array.chunk - 1):
        message = f"{level_title(array.raid)} takes no chunk of {format_bytes(array.chunk)}"
        yield Impossible("chunk", message, "a power of two: 4K, 8K, 16K, 32K, 64K ...")


def _layout(array: Array) -> Iterator[Impossible]:
    if array.layout is None:
        return
    if array.raid == 10:
        yield from _raid10_layout(array)
    elif array.raid not in WITH_LAYOUTS:
        yield Impossible("layout", f"{level_title(array.raid)} has no choice of layout", "leave layout out")
    elif array.layout not in PARITY_LAYOUTS:
        message = f"{level_title(array.raid)} has no layout {array.layout!r}"
        yield Impossible("layout", message, ", ".join(PARITY_LAYOUTS))


def _raid10_layout(array: Array) -> Iterator[Impossible]:
    try:
        name, copies = raid10_copies(array.layout)
    except ValueError:
        message = f"RAID 10 has no layout {array.layout!r}"
        yield Impossible("layout", message, "n2, f2 or o2 (near, far, offset; the digit is the copies)")
        return
    if copies < 2:
        yield Impossible("layout", "RAID 10 keeps at least two copies", f"{name[0]}2")
    elif copies > array.disks:
        message = f"the {name} layout with {copies} copies needs {copies} disks, not {array.disks}"
        yield Impossible("layout", message, f"at most {name[0]}{array.disks}, or more disks")


def _consistency(array: Array, redundancy: Redundancy) -> Iterator[Impossible]:
    name = level_title(array.raid) if array.raid != "none" else "a volume without an array"
    bitmap, policy = redundancy.bitmap, redundancy.consistency_policy
    if array.raid not in REDUNDANT:
        if bitmap == "internal":
            yield Impossible("bitmap", f"{name} has no copies that a bitmap could keep track of", "none")
        if policy is not None:
            message = f"{name} has no copies to keep consistent"
            yield Impossible("consistency_policy", message, "leave consistency_policy out")
        return
    if policy == "ppl" and array.raid != 5:
        message = f"a partial parity log is for RAID 5 only, not for {name}"
        yield Impossible("consistency_policy", message, "resync or bitmap")
    if policy == "bitmap" and bitmap == "none":
        yield Impossible("bitmap", "consistency_policy is bitmap, and there is none", "internal")
    if policy in ("resync", "ppl") and bitmap == "internal":
        message = f"consistency_policy is {policy}, which is without a bitmap"
        yield Impossible("bitmap", message, "none, or consistency_policy bitmap")


def _failures(array: Array, redundancy: Redundancy) -> Iterator[Impossible]:
    if redundancy.rebuild and not redundancy.fail:
        yield Impossible("rebuild", "nothing fails that could be rebuilt", "fail: 1 with it")
    if not redundancy.fail:
        return
    most = most_failures(array)
    name = level_title(array.raid) if array.raid != "none" else "a volume without an array"
    if redundancy.fail > most:
        what = f"{name} of {array.disks} disks" if array.disks > 1 else name
        survives = "no failed disk" if most < 1 else counted(most, "failed disk")
        message = f"{what} survives {survives}, not {redundancy.fail}"
        yield Impossible("fail", message, f"0 to {most}" if most > 0 else "0")


def _profiles(array: Array, written: Format) -> Iterator[Impossible]:
    profiles = {"data_profile": written.data_profile, "metadata_profile": written.metadata_profile}
    devices = array.disks if array.raid == "none" else 1
    for key, profile in profiles.items():
        if profile is None:
            continue
        if written.filesystem != "btrfs":
            message = f"{written.filesystem} has no profiles: they are btrfs's own"
            yield Impossible(key, message, "filesystem: btrfs, or leave it out")
        elif profile not in PROFILES:
            yield Impossible(key, f"btrfs has no profile {profile!r}", ", ".join(PROFILES))
        elif devices < PROFILES[profile]:
            message = f"btrfs profile {profile} needs {PROFILES[profile]} devices, not {devices}"
            if array.raid != "none":
                message += f": the {level_title(array.raid)} below it is one"
            yield Impossible(key, message, "another profile, or more disks with raid: none")
