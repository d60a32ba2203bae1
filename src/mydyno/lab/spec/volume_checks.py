"""Combinations of a volume's keys that make no sense, each reported at its key, with the way out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mydyno.core.document.base import Fault, clash
from mydyno.core.document.sizes import written_size
from mydyno.core.nearest import nearest
from mydyno.core.server_files import kinds_on
from mydyno.core.units import format_bytes
from mydyno.lab.spec.array_rules import (
    PARITY_LAYOUTS,
    PROFILES,
    Format,
    Impossible,
    Redundancy,
    impossible_array,
)
from mydyno.lab.spec.arrays import SMALLEST, array_of, usable_bytes

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
    if room is not None and room < SMALLEST[kind]:
        where = "each disk" if alone else "the volume"
        message = (
            f"{kind} needs {format_bytes(SMALLEST[kind])} at least, and {where} has {format_bytes(room)}"
        )
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
