"""Combinations of a volume's keys that make no sense, each told with the way out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mydyno.core.units import format_bytes
from mydyno.document.base import Fault, clash
from mydyno.document.problems import nearest
from mydyno.spec.arrays import REDUNDANT, level_name, most_failures, raid10_copies
from mydyno.spec.capacity import SMALLEST, array_of, usable_bytes
from mydyno.spec.volume_values import Raid

if TYPE_CHECKING:
    from mydyno.spec.storage import Volume

FEWEST_DISKS: dict[Raid, int] = {"linear": 1, 0: 1, 1: 2, 4: 2, 5: 2, 6: 4}
"""What mdadm(8) takes; RAID 10 needs as many as it keeps copies."""

_OF_5 = (
    "left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric", "parity-first", "parity-last",
    "ls", "la", "rs", "ra", "ddf-zero-restart", "ddf-N-restart", "ddf-N-continue",
)  # fmt: skip
_OF_6 = (
    *_OF_5, "left-symmetric-6", "left-asymmetric-6", "right-symmetric-6", "right-asymmetric-6", "parity-first-6",
)  # fmt: skip
_OF_10 = tuple(f"{kind}{copies}" for kind in "nfo" for copies in range(2, 10))
LAYOUTS: dict[Raid, tuple[str, ...]] = {5: _OF_5, 6: _OF_6, 10: _OF_10}
"""Level -> layouts (mdadm(8), --layout)."""

PROFILES = {
    "single": 1, "dup": 1, "raid0": 2, "raid1": 2, "raid1c3": 3, "raid1c4": 4, "raid10": 4, "raid5": 2, "raid6": 3,
}  # fmt: skip
"""btrfs profile -> the disks that it needs with every kernel since 5.5 (mkfs.btrfs(8))."""

_ATIME = ("atime", "noatime", "relatime", "strictatime")


def volume_faults(volume: Volume) -> Iterator[Fault]:
    """Everything about the combination of the keys of `volume`, each of which is right for itself."""
    yield from _disks_and_level(volume)
    yield from _layout(volume)
    yield from _consistency(volume)
    yield from _failures(volume)
    yield from _profiles(volume)
    yield from _filesystem(volume)


def _disks_and_level(volume: Volume) -> Iterator[Fault]:
    raid, disks = volume.raid, volume.disks.number
    if raid == "none":
        if disks > 1 and volume.filesystem != "btrfs":
            allowed = "raid: linear, 0, 1, 4, 5, 6 or 10; one disk; or filesystem: btrfs, which spreads by itself"
            yield clash("disks", f"{disks} disks, but no array of them", allowed)
        return
    if raid == 10:
        return
    if disks < FEWEST_DISKS[raid]:
        yield _too_few(volume, FEWEST_DISKS[raid])


def _too_few(volume: Volume, fewest: int, why: str = "") -> Fault:
    has = volume.disks.number
    message = f"{level_name(volume.raid)}{why} needs {fewest} disks, and there {'is' if has == 1 else 'are'} {has}"
    return clash("raid", message, f"disks: {{count: {fewest}}} or more")


def _layout(volume: Volume) -> Iterator[Fault]:
    raid, layout = volume.raid, volume.layout
    allowed = LAYOUTS.get(raid, ())
    if layout is not None and layout not in allowed:
        if not allowed:
            yield clash("layout", f"layout is given, but {level_name(raid)} has only one", "raid: 5, 6 or 10")
            return
        some = ", ".join(allowed[:4]) if raid != 10 else "n2, f2, o2 and more copies, as n3"
        yield Fault(
            f"is no layout of {level_name(raid)}", some, _likely_layout(layout, allowed), at=("layout",)
        )
        return
    if raid == 10:
        _, copies = raid10_copies(layout)
        if volume.disks.number < copies:
            yield _too_few(volume, copies, f" with {copies} copies")


def _likely_layout(layout: str, allowed: tuple[str, ...]) -> str | None:
    words = {"near": "n2", "far": "f2", "offset": "o2"}
    name, _, copies = layout.partition("=")
    likely = f"{name[0]}{copies}" if name in words and copies.isdecimal() else words.get(layout)
    return likely if likely in allowed else nearest(layout, allowed)


def _consistency(volume: Volume) -> Iterator[Fault]:
    policy = volume.consistency_policy
    if policy == "ppl" and volume.raid != 5:
        message = f"a partial parity log is RAID 5's, and this is {level_name(volume.raid)}"
        yield clash("consistency_policy", message, "resync or bitmap, or raid: 5")
    elif policy == "ppl" and volume.bitmap == "internal":
        yield clash("bitmap", "a bitmap and a partial parity log exclude each other", "one of them")
    elif policy == "bitmap" and volume.bitmap == "none":
        yield clash("bitmap", "consistency_policy is bitmap, but bitmap is none", "bitmap: internal")
    elif policy == "resync" and volume.bitmap == "internal":
        yield clash("bitmap", "consistency_policy is resync, but there is a bitmap", "bitmap: none")


def _failures(volume: Volume) -> Iterator[Fault]:
    if volume.rebuild and not volume.fail:
        yield clash("rebuild", "rebuild is given, but no disk fails", "fail: 1 or more beside it")
    if not volume.fail:
        return
    if volume.raid not in REDUNDANT:
        what = "one disk has" if volume.raid == "none" else f"{level_name(volume.raid)} has"
        yield clash("fail", f"a disk fails, but {what} no redundancy", "raid: 1, 4, 5, 6 or 10")
    elif volume.layout is None or volume.layout in LAYOUTS.get(volume.raid, ()):
        survives = most_failures(array_of(volume))
        if volume.fail > survives >= 0:
            disks = f"{survives} failed disk{'s'[: survives != 1]}"
            message = f"{level_name(volume.raid)} of {volume.disks.number} disks survives {disks}"
            yield clash("fail", message, f"fail: {survives} or less")


def _profiles(volume: Volume) -> Iterator[Fault]:
    for key in ("data_profile", "metadata_profile"):
        profile: str | None = getattr(volume, key)
        if profile is None:
            continue
        disks = volume.disks.number
        if volume.filesystem != "btrfs":
            yield clash(key, f"{key} is given, but {volume.filesystem} has no profiles", "filesystem: btrfs")
        elif volume.raid != "none":
            message = f"{key} spreads over disks, but md's {level_name(volume.raid)} makes one disk of them"
            yield clash(key, message, "raid: none, for btrfs' own; no profile, for md's")
        elif profile not in PROFILES:
            folded = profile.lower().replace("-", "").replace(" ", "")
            likely = folded if folded in PROFILES else nearest(profile, PROFILES)
            yield Fault("is no profile of btrfs", ", ".join(PROFILES), likely, at=(key,))
        elif disks < PROFILES[profile]:
            message = f"{profile} needs {PROFILES[profile]} disks, and there {'is' if disks == 1 else 'are'} {disks}"
            yield clash(key, message, f"disks: {{count: {PROFILES[profile]}}} or more")


def _filesystem(volume: Volume) -> Iterator[Fault]:
    kind = volume.filesystem
    if kind == "raw":
        for key in ("mkfs", "mount"):
            if getattr(volume, key):
                yield clash(key, f"{key} is given, but raw is without a file system", "another filesystem")
        return
    kinds = [option for option in volume.mount if option in _ATIME]
    if len(kinds) > 1:
        yield clash("mount", f"{' and '.join(kinds)} exclude each other", f"one of {', '.join(_ATIME)}")
    # What spreads by itself needs room on each disk.
    alone = kind == "btrfs" and volume.raid == "none" and not volume.disks.devices
    room = volume.disks.size if alone else usable_bytes(volume)
    if room is not None and room < SMALLEST[kind]:
        message = f"{kind} needs {format_bytes(SMALLEST[kind])} at least, and the volume has {format_bytes(room)}"
        yield clash("disks", message, "larger disks, or another filesystem")
