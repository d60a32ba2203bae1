"""Facts of a block device of a host: which disk it is, what is on it, and who uses it."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
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

# The shell expands the patterns; those without a match are left out.
_LIST = "ls -d -- $* 2>/dev/null; :"
# Those of mydyno or its agent, and of the first process: an agent's private ones are as at its start.
_MOUNTS = (Path("/proc/self/mountinfo"), Path("/proc/1/mountinfo"))
_ERROR_NUMBER = re.compile(r" \(os error \d+\)$")


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
    """Asks `host` about the device that `name` means there. Writes nothing to it.

    Without root its signatures stay unknown. Raises StorageError when there is not such a block device,
    MissingToolError without lsblk, wipefs or mydyno-agent, HostError when the host has gone.
    """
    path = _node(host, name, stable_folders)
    listed = _rows_of(host, ["lsblk", "--json", "--bytes", "--output", _COLUMNS, str(path)], "blockdevices")
    if not listed:
        raise StorageError(f"lsblk does not know {path}, which {name} means")
    tree = _tree(host)
    return from_answers(
        name,
        stable=name.parent in stable_folders,
        tree=listed[0],
        signatures=_rows_of(host, ["wipefs", "--json", "--no-act", str(path)], "signatures"),
        holders=_holders(host, path),
        serial=_serial_of_sysfs(host, path),
        carries_system=not _system_disks(host, tree).isdisjoint(tree.disks(path.name)),
        refused_opening=_refused_opening(host, path),
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


def _node(host: Host, name: Path, stable_folders: Sequence[Path]) -> Path:
    resolved = host.run(["readlink", "--canonicalize-existing", "--verbose", "--", str(name)])
    if resolved.returncode != 0:
        known = _listed(host, f"{stable_folders[0]}/*") if stable_folders else []
        where = "this machine" if host.name == "local" else host.name
        raise StorageError(
            f"there is not a block device {name}: {resolved.stderr.strip().rpartition(': ')[2]}",
            f"{where} has {', '.join(known)}" if known else "`lsblk` and `ls /dev/disk/by-id` list them",
        )
    path = Path(resolved.stdout.removesuffix("\n"))
    if host.run(["test", "-b", str(path)]).returncode != 0:
        raise StorageError(f"{name} is not a block device", "name a disk by its link in /dev/disk/by-id")
    return path


def _listed(host: Host, *patterns: str) -> list[str]:
    """The paths that match, sorted. A pattern has no space in it."""
    return host.run(["sh", "-c", _LIST, "sh", *patterns]).stdout.splitlines()


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


def _holders(host: Host, path: Path) -> list[str]:
    return [f"/dev/{Path(each).name}" for each in _listed(host, f"/sys/class/block/{path.name}/holders/*")]


def _serial_of_sysfs(host: Host, path: Path) -> str | None:
    """Without udev, lsblk does not know the serial that virtio and NVMe disks show here."""
    folder = Path("/sys/class/block") / path.name
    for file in (folder / "serial", folder / "device" / "serial"):
        if serial := _stripped(host.read_text(file)):
            return serial
    return None


def _tree(host: Host) -> BlockTree:
    patterns = (block_tree.DISKS, block_tree.SLAVES, block_tree.PARTITIONS)
    paths = _listed(host, *patterns)
    tree = BlockTree.of_paths(*([each for each in paths if PurePath(each).match(it)] for it in patterns))
    if not tree.names:
        raise StorageError(f"the block devices of {host.name} cannot be listed: {block_tree.DISKS} is empty")
    return tree


def _system_disks(host: Host, tree: BlockTree) -> set[str]:
    """The whole disks under the running system's own file systems, whatever array or mapping is between.

    Raises StorageError when they cannot be known.
    """
    tables = [table for file in _MOUNTS if (table := host.read_text(file))]
    # /dev/root is a source that no folder has; btrfs and overlays have a number without a device.
    numbers = host.run(["stat", "--dereference", "--format=%d", "--", *_SYSTEM_POINTS]).stdout.split()
    if not tables or not numbers:
        raise StorageError(f"the disks under the system's own file systems cannot be known on {host.name}")
    below = [filesystem_under(Path(point), table) for point in _SYSTEM_POINTS for table in tables]
    nodes = {mount.source for mount in below if mount is not None and mount.source.startswith("/dev/")}
    nodes |= {f"/sys/dev/block/{os.major(int(each))}:{os.minor(int(each))}" for each in numbers}
    names = host.run(["readlink", "--canonicalize", "--", *nodes]).stdout.splitlines()
    return {disk for name in names for disk in tree.disks(Path(name).name)}


def _refused_opening(host: Host, path: Path) -> str | None:
    """What the kernel says to an exclusive opening; a reading one, so that no event of a change is sent."""
    done = host.run([str(host.program("mydyno-agent")), "exclusive", str(path)])
    if done.returncode == 0:
        return None
    said = done.stderr.strip() or f"exit code {done.returncode}"
    return _ERROR_NUMBER.sub("", said.removeprefix("mydyno-agent: ").removeprefix(f"{path}: "))
