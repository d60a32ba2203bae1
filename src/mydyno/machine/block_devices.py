"""Facts of a block device of this machine: which disk it is, what is on it, and who uses it."""

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mydyno.core.errors import StorageError
from mydyno.machine import block_tree
from mydyno.machine.block_tree import BlockTree
from mydyno.machine.environment import filesystem_under
from mydyno.machine.protocol import Host

STABLE_FOLDERS = (Path("/dev/disk/by-id"), Path("/dev/disk/by-path"), Path("/dev/disk/by-partuuid"))
"""Names that are of the disk, its place or its partition, and the same after a reboot. A file system's
label or UUID is none: it changes with what is written."""

# lsblk nests children only where NAME is among the columns.
_COLUMNS = "NAME,PATH,MAJ:MIN,TYPE,SIZE,MODEL,SERIAL,RO,MOUNTPOINTS"
_SYSTEM_POINTS = ("/", "/boot", "/boot/efi", "/usr", "/var", "/home")
_SWAP_POINT = "[SWAP]"


@dataclass(frozen=True)
class Signature:
    """The mark of a file system, partition table, array or anything else that wipefs(8) knows."""

    kind: str
    """`ext4`, `gpt`, `linux_raid_member`, `LVM2_member`, `swap`..."""
    offset: int
    """Bytes from the device's start."""


@dataclass(frozen=True)
class BlockDevice:
    """One block device as it was when it was read. What is unknown is None."""

    name: Path
    """As the experiment names it."""
    stable: bool
    """Whether that name lies in a folder of stable names."""
    path: Path
    """The node that the name means now: /dev/sdb."""
    number: str
    """MAJOR:MINOR."""
    kind: str
    """lsblk's type: disk, part, loop, raid1, lvm, crypt, rom..."""
    size_bytes: int
    model: str | None
    serial: str | None
    read_only: bool
    mount_points: tuple[str, ...]
    """Of the device and of all that is built on it, in this mount namespace."""
    is_swap: bool
    parts: tuple[str, ...]
    """Its partitions."""
    holders: tuple[str, ...]
    """Arrays, logical volumes and mappings that are built on it now."""
    signatures: tuple[Signature, ...] | None
    """None when it may not be read."""
    carries_system: bool
    """Whether the running system's own file systems lie on it or on the disk that it is part of."""
    refused_opening: str | None
    """What the kernel says when it is opened exclusively (O_EXCL); None: it opens, so no other has it."""

    def description(self) -> str:
        """One line for a plan: name, model, serial, size, signatures."""
        carried = f"carries {', '.join(self.carried)}" if self.carried else "carries no signature"
        return (
            f"{self.name} ({self.path}): {self.model or 'unknown model'}, "
            f"serial {self.serial or 'unknown'}, {self.size_bytes / 1e9:.1f} GB, "
            f"{'may not be read' if self.signatures is None else carried}"
        )

    @property
    def carried(self) -> tuple[str, ...]:
        """The kinds of its signatures, each once."""
        return tuple(dict.fromkeys(signature.kind for signature in self.signatures or ()))


def read_block_device(host: Host, name: Path, stable_folders: Sequence[Path] = STABLE_FOLDERS) -> BlockDevice:
    """Asks this machine about the device that `name` means. Writes nothing to it.

    `host` is this machine's. Without root its signatures stay unknown. Raises StorageError when there
    is not such a block device, MissingToolError without lsblk or wipefs.
    """
    path = _node(name, stable_folders)
    listed = _rows_of(host, ["lsblk", "--json", "--bytes", "--output", _COLUMNS, str(path)], "blockdevices")
    if not listed:
        raise StorageError(f"lsblk does not know {path}, which {name} means")
    return from_answers(
        name,
        stable=name.parent in stable_folders,
        tree=listed[0],
        signatures=_rows_of(host, ["wipefs", "--json", "--no-act", str(path)], "signatures"),
        holders=_holders(path),
        serial=_serial_of_sysfs(host, path),
        carries_system=not _system_disks().isdisjoint(_disks_under(path.name)),
        refused_opening=_refused_opening(path),
    )


def from_answers(
    name: Path,
    *,
    stable: bool,
    tree: Mapping[str, Any],
    signatures: Sequence[Mapping[str, Any]] | None,
    holders: Sequence[str],
    serial: str | None,
    carries_system: bool,
    refused_opening: str | None,
) -> BlockDevice:
    """The answers of lsblk (one device with its children) and wipefs, and the files of sysfs, as one
    value."""
    points = [point for each in _with_children(tree) for point in each["mountpoints"] if point]
    children = list(tree.get("children", ()))
    return BlockDevice(
        name=name,
        stable=stable,
        path=Path(tree["path"]),
        number=str(tree["maj:min"]).strip(),
        kind=tree["type"],
        size_bytes=int(tree["size"]),
        model=_stripped(tree["model"]),
        serial=_stripped(tree["serial"]) or serial,
        read_only=bool(tree["ro"]),
        mount_points=tuple(dict.fromkeys(point for point in points if point != _SWAP_POINT)),
        is_swap=_SWAP_POINT in points,
        parts=tuple(child["path"] for child in children if child["type"] == "part"),
        holders=tuple(
            dict.fromkeys([*(child["path"] for child in children if child["type"] != "part"), *holders])
        ),
        signatures=None
        if signatures is None
        else tuple(Signature(each["type"], int(each["offset"], 16)) for each in signatures),
        carries_system=carries_system,
        refused_opening=refused_opening,
    )


def _node(name: Path, stable_folders: Sequence[Path]) -> Path:
    try:
        path = name.resolve(strict=True)
        mode = path.stat().st_mode
    except OSError as error:
        known = [str(entry) for folder in stable_folders[:1] for entry in _entries(folder)]
        raise StorageError(
            f"there is not a block device {name}: {error.strerror}",
            f"this machine has {', '.join(known)}" if known else "`lsblk` and `ls /dev/disk/by-id` list them",
        ) from error
    if not stat.S_ISBLK(mode):
        raise StorageError(f"{name} is not a block device", "name a disk by its link in /dev/disk/by-id")
    return path


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _rows_of(host: Host, argv: Sequence[str], key: str) -> list[dict[str, Any]] | None:
    """The list that a tool's JSON holds under `key`; None when it failed."""
    done = host.run(argv)
    if done.returncode != 0:
        return None
    answer: list[dict[str, Any]] = json.loads(done.stdout or "{}").get(key, [])
    return answer


def _with_children(tree: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield tree
    for child in tree.get("children", ()):
        yield from _with_children(child)


def _stripped(text: Any) -> str | None:
    return str(text).strip() or None if text is not None else None


def _holders(path: Path) -> list[str]:
    return [f"/dev/{holder.name}" for holder in _entries(Path("/sys/class/block") / path.name / "holders")]


def _serial_of_sysfs(host: Host, path: Path) -> str | None:
    """Without udev, lsblk does not know the serial that virtio and NVMe disks show here."""
    folder = Path("/sys/class/block") / path.name
    for file in (folder / "serial", folder / "device" / "serial"):
        if serial := _stripped(host.read_text(file)):
            return serial
    return None


def _system_disks() -> set[str]:
    """The whole disks under the running system's own file systems, whatever array or mapping is between."""
    mountinfo = Path("/proc/self/mountinfo").read_text(errors="replace")
    disks: set[str] = set()
    for point in map(Path, _SYSTEM_POINTS):
        below = filesystem_under(point, mountinfo)
        if below is not None and below.source.startswith("/dev/"):
            disks |= _disks_under(Path(below.source).resolve().name)
        if point.exists():
            # /dev/root is a source that no folder has; btrfs and overlays have a number without a device.
            number = point.stat().st_dev
            node = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
            disks |= _disks_under(node.resolve().name)
    return disks


def _disks_under(name: str) -> set[str]:
    """The whole disks that a block device is, is a partition of, or is built on; none when there is none."""
    patterns = (block_tree.DISKS, block_tree.SLAVES, block_tree.PARTITIONS)
    tree = BlockTree.of_paths(*(map(str, Path("/").glob(pattern.lstrip("/"))) for pattern in patterns))
    return set(tree.disks(name))


def _refused_opening(path: Path) -> str | None:
    """What the kernel says to an exclusive opening; a reading one, so that no event of a change is sent."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        return error.strerror
    return None
