"""Disks, arrays and logical volumes, from /sys/block up.

The service is at an address that never leaves the machine, and is queried without a proxy, as its makers
want it (Microsoft, "Azure Instance Metadata Service"). The names under /dev/disk/azure are those of the
rules for udev that waagent and azure-vm-utils install.
"""

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from mydyno.core.words import words
from mydyno.machine import block_tree
from mydyno.machine.block_tree import BlockTree
from mydyno.machine.environment import chosen
from mydyno.survey.facts import Array, Disk, LogicalVolume, Unread
from mydyno.survey.facts.storage import DiskKind
from mydyno.survey.host.machine import Machine

_NO_DISKS = re.compile(r"(loop|ram|zram|sr|fd|md|dm-|nbd|mtdblock)\d*")
_SECTOR_BYTES = 512
_VIRTUAL_NAMES = ("vd", "xvd")
_VIRTUAL_MAKERS = re.compile(
    r"virtual|qemu|vbox|vmware|msft|amazon elastic block store|nvme_card-pd|persistentdisk", re.IGNORECASE
)
"""What hypervisors and clouds call the disks that they lend: behind them may be anything."""
_OF_A_DISK = words(
    """
    size stat removable device/model device/vendor queue/rotational queue/scheduler queue/read_ahead_kb
    queue/nr_requests queue/write_cache queue/discard_max_bytes
    """
)
_OF_AN_ARRAY = words(
    """
    md/level md/raid_disks md/degraded md/chunk_size md/array_state md/sync_action md/bitmap/location
    md/bitmap/chunksize md/stripe_cache_size queue/read_ahead_kb
    """
)
CLOUD = "Microsoft Azure"
_ASSET_TAG_FILE = "/sys/class/dmi/id/chassis_asset_tag"
_ASSET_TAG = "7783-7084-3265-9085-8269-3286-77"
"""Of every virtual machine of Azure's, of none of Hyper-V's elsewhere."""
_URL = "http://169.254.169.254/metadata/instance/compute/storageProfile?api-version=2021-02-01&format=json"
_SECONDS = 3
_DATA_DISKS = ("/dev/disk/azure/scsi1/lun{}", "/dev/disk/azure/data/by-lun/{}")
_OS_DISK = ("/dev/disk/azure/root", "/dev/disk/azure/os")
_CACHING = ("None", "ReadOnly", "ReadWrite")


def read_tree(machine: Machine, unread: list[Unread]) -> BlockTree:
    patterns = (block_tree.DISKS, block_tree.SLAVES, block_tree.PARTITIONS)
    tree = BlockTree.of_paths(*(machine.glob(pattern) for pattern in patterns))
    if not tree.names:
        why = "/sys/block is empty or not there (a container may hide it)"
        unread.append(Unread(what="the disks and their queues", why=why, hint="run it on the machine itself"))
    return tree


def read_disks(machine: Machine, tree: BlockTree, used: Iterable[str]) -> tuple[Disk, ...]:
    """Every disk of the machine, and whatever else is at the bottom of what the server uses."""
    real = {name for name in tree.names if not _NO_DISKS.match(name)}
    names = sorted(real | set(used))
    machine.fetch(f"/sys/block/{name}/{file}" for name in names for file in _OF_A_DISK)
    disks = (_disk(machine, name) for name in names)
    return tuple(disk for disk in disks if disk.size_bytes != 0)


def read_arrays(machine: Machine, tree: BlockTree) -> tuple[Array, ...]:
    names = sorted(name for name in tree.names if re.fullmatch(r"md\d+|md_.+", name))
    machine.fetch(f"/sys/block/{name}/{file}" for name in names for file in _OF_AN_ARRAY)
    return tuple(array for name in names if (array := _array(machine, tree, name)) is not None)


def read_volumes(machine: Machine, used: Sequence[str], unread: list[Unread]) -> dict[str, LogicalVolume]:
    """The logical volumes among the devices `used`, by their kernel names (`dm-0`)."""
    mapped = [name for name in used if name.startswith("dm-")]
    machine.fetch(f"/sys/block/{name}/dm/{file}" for name in mapped for file in ("name", "uuid"))
    volumes = {
        name: volume_name(_text(machine, name, "dm/name") or name)
        for name in mapped
        if (_text(machine, name, "dm/uuid") or "").startswith("LVM-")
    }
    if not volumes:
        return {}
    rows = _lvs(machine, unread)
    return {name: _volume(volume, rows) for name, volume in volumes.items()}


def volume_name(mapped: str) -> str:
    """`my--vg-data` is my-vg/data: the mapping's name doubles the dashes of both names."""
    group, _, volume = re.sub(r"(?<!-)-(?!-)", "\0", mapped, count=1).partition("\0")
    return f"{group.replace('--', '-')}/{volume.replace('--', '-')}"


def kind_of(name: str, maker: str, rotational: str | None) -> DiskKind | None:
    """What a disk is, by its name, its maker's words and its queue's `rotational`."""
    if name.startswith(_VIRTUAL_NAMES) or _VIRTUAL_MAKERS.search(maker):
        return "virtual"
    if name.startswith("nvme"):
        return "nvme"
    return None if rotational is None else "rotating" if rotational == "1" else "ssd"


def requests(stat: str | None) -> dict[str, Any]:
    """Reads and writes since boot, and their time, of the text of /sys/block/DISK/stat (Linux kernel
    documentation, "Block layer statistics in /sys/block/<dev>/stat")."""
    columns = (stat or "").split()
    if len(columns) < 8 or not all(column.isdigit() for column in columns):
        return {}
    return {
        "reads": int(columns[0]),
        "read_seconds": int(columns[3]) / 1000,
        "writes": int(columns[4]),
        "write_seconds": int(columns[7]) / 1000,
    }


def _disk(machine: Machine, name: str) -> Disk:
    text, number = _readers(machine, name)
    maker = " ".join(filter(None, (text("device/vendor"), text("device/model"))))
    sectors, schedulers = number("size"), text("queue/scheduler")
    removable, discards = number("removable"), number("queue/discard_max_bytes")
    return Disk(
        name=name,
        kind=kind_of(name, maker, text("queue/rotational")),
        size_bytes=None if sectors is None else sectors * _SECTOR_BYTES,
        model=text("device/model"),
        scheduler=chosen(schedulers),
        schedulers=tuple((schedulers or "").replace("[", "").replace("]", "").split()),
        read_ahead_kib=number("queue/read_ahead_kb"),
        requests=number("queue/nr_requests"),
        write_cache=text("queue/write_cache"),
        discards=None if discards is None else discards > 0,
        removable=None if removable is None else removable == 1,
        **requests(text("stat")),
    )


def _array(machine: Machine, tree: BlockTree, name: str) -> Array | None:
    """None for an array that does not run."""
    text, number = _readers(machine, name)
    level, devices, missing = text("md/level"), number("md/raid_disks"), number("md/degraded")
    if not level or not devices:
        return None
    location = text("md/bitmap/location")
    return Array(
        name=name,
        level=level,
        devices=devices,
        # Levels without redundancy have no file `degraded`: they run whole or not at all.
        working=devices - (missing or 0),
        chunk_bytes=number("md/chunk_size") or None,
        state=text("md/array_state"),
        action=text("md/sync_action"),
        bitmap="internal" if location and location[0] in "+-" else location,
        bitmap_chunk_bytes=number("md/bitmap/chunksize") if location not in (None, "none") else None,
        stripe_cache_size=number("md/stripe_cache_size"),
        read_ahead_kib=number("queue/read_ahead_kb"),
        disks=tree.disks(name),
    )


def _lvs(machine: Machine, unread: list[Unread]) -> Sequence[dict[str, Any]]:
    columns = "vg_name,lv_name,segtype,stripes,stripe_size,origin"
    argv = ["lvs", "--readonly", "--reportformat", "json", "--units", "b", "--nosuffix", "-o", columns]
    done = machine.run(argv)
    if done is None or done.returncode != 0:
        why = "lvs is not there" if done is None else (done.stderr.strip().splitlines() or ["lvs failed"])[-1]
        unread.append(Unread(what="the layout of the logical volumes", why=why.strip(), hint="sudo"))
        return ()
    rows: list[dict[str, Any]] = json.loads(done.stdout)["report"][0]["lv"]
    return rows


def _volume(name: str, rows: Sequence[dict[str, Any]]) -> LogicalVolume:
    group, _, volume = name.partition("/")
    of_group = [row for row in rows if row["vg_name"] == group]
    own = next((row for row in of_group if row["lv_name"].strip("[]") == volume), None)
    if own is None:
        return LogicalVolume(name=name)
    return LogicalVolume(
        name=name,
        segment=own["segtype"],
        stripes=int(own["stripes"]),
        stripe_bytes=int(own["stripe_size"]) or None,
        snapshots=sum(row["origin"].strip("[]") == volume for row in of_group),
    )


def _text(machine: Machine, name: str, file: str) -> str | None:
    return (machine.read_text(f"/sys/block/{name}/{file}") or "").strip() or None


def _readers(machine: Machine, name: str) -> tuple[Callable[[str], str | None], Callable[[str], int | None]]:
    """What gives the text, and the number, of a file of a block device."""

    def number(file: str) -> int | None:
        text = _text(machine, name, file)
        return int(text) if text and text.isdigit() else None

    return partial(_text, machine, name), number


def is_azure(machine: Machine) -> bool:
    return (machine.read_text(_ASSET_TAG_FILE) or "").strip() == _ASSET_TAG


def with_host_caching(machine: Machine, disks: Iterable[Disk], unread: list[Unread]) -> tuple[Disk, ...]:
    """The same disks, those of a virtual machine of Azure's with what its host caches."""
    all_disks = tuple(disks)
    if not is_azure(machine):
        return all_disks
    words = f"curl --silent --fail --noproxy * --max-time {_SECONDS} --header".split()
    done = machine.run([*words, "Metadata: true", _URL])
    profile = parse_profile(done.stdout) if done is not None and done.returncode == 0 else None
    if profile is None:
        why = "curl is not there" if done is None else "Azure's metadata service gave no answer"
        what = "how the host caches the disks"
        unread.append(Unread(what=what, why=why, hint="az vm show, storageProfile"))
        return all_disks
    named = {
        posixpath.basename(machine.real_path(link)): caching
        for place, caching in profile.items()
        for link in (_OS_DISK if place == "os" else tuple(path.format(place) for path in _DATA_DISKS))
    }
    return tuple(disk.model_copy(update={"host_caching": named.get(disk.name)}) for disk in all_disks)


def parse_profile(text: str) -> Mapping[str, str] | None:
    """Caching by the number of a data disk (`0`, its LUN) and of `os`. None: no such answer. Pure."""
    try:
        profile: Any = json.loads(text)
        data = {str(disk["lun"]): disk.get("caching") for disk in profile.get("dataDisks") or ()}
        every = {"os": (profile.get("osDisk") or {}).get("caching"), **data}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return {place: caching for place, caching in every.items() if caching in _CACHING}
