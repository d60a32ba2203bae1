"""The file system of a volume, aligned with its array; or none (`raw`)."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mydyno.core.errors import MissingToolError, StorageError
from mydyno.lab.spec.arrays import EXT, Alignment, alignment, array_of, ext_block, option_value, stripe_of
from mydyno.lab.spec.storage import Volume
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.layer import BuiltLayers
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.storage.built import Array, FileSystem, VolumeLayer, of_volume
from mydyno.lab.stack.storage.tools import complaint, output_of, run_tool

_ELSEWHERE = {
    "jfs": "host: uml supports it, and host: vm with a full kernel (the cloud kernels do not have it)",
    "reiserfs": "host: uml supports it, and host: vm up to kernel 6.12: Linux 6.13 removed it",
    "f2fs": "host: uml and host: vm support it as a module",
}
_ELSEWHERE_COMMON = "host: uml and host: vm support it"
_QUIET: Mapping[str, tuple[str, ...]] = {
    "ext2": ("-q", "-F"),
    "ext3": ("-q", "-F"),
    "ext4": ("-q", "-F"),
    "xfs": ("-q", "-f"),
    "btrfs": ("-q", "-f"),
    "jfs": ("-q",),
    "reiserfs": ("-q", "-ff"),
    "f2fs": ("-q", "-f"),
}
"""No questions, and no refusal of what was on the disk before."""

_WITHOUT_DISCARD: Mapping[str, tuple[str, ...]] = {"xfs": ("-K",), "btrfs": ("-K",), "f2fs": ("-t", "0")}
"""Virtual disks are fresh: there is nothing to discard, and a guest's disks of 2 GB take 2 to 5 s for it. A
real disk is discarded, as mkfs does by itself. (ext has it among its `-E`.)"""

# ext4 would go on writing its inode tables after mkfs, in the middle of what is measured (mke2fs(8), -E).
_EXT4_AT_ONCE = "lazy_itable_init=0,lazy_journal_init=0"


@dataclass(frozen=True)
class FileSystemLayer(VolumeLayer):
    """Makes the file system, or finds it on restored disks, and reads its properties back."""

    part: ClassVar[str] = "file system"
    shaping: ClassVar[tuple[str, ...]] = ("filesystem", "mkfs", "data_profile", "metadata_profile")
    cost_seconds: ClassVar[float] = 1.5

    def side_effects(self) -> tuple[str, ...]:
        if self.wanted.filesystem == "raw":
            return ()
        return (f"makes {self.wanted.filesystem} on the disks of {self.volume}",)

    def build(self, site: Site, below: BuiltLayers) -> FileSystem:
        array = of_volume(below, Array, self.volume)
        kind = self.wanted.filesystem
        if kind == "raw":
            return FileSystem(self.volume, {"file system": "none (raw device)"}, kind, array.device)
        self._refuse_unknown(site)
        devices = [str(array.device)]
        if self.wanted.raid == "none":
            devices = [str(member) for member in array.members]
        if below.of(Ground).contents == "restored":  # type: ignore[type-abstract]
            self._register(site, devices)
        else:
            self._make(site, below, devices)
        return self._verified(site, array.device)

    def _register(self, site: Site, devices: list[str]) -> None:
        """mkfs registers the disks of a btrfs in one kernel; another does not know them (btrfs-device(8))."""
        if self.wanted.filesystem == "btrfs":
            output_of(site.host, ["btrfs", "device", "scan", *devices], f"scanning {' '.join(devices)}")

    def _make(self, site: Site, below: BuiltLayers, devices: list[str]) -> None:
        # mkfs.jfs leaves what others wrote at other places, and blkid would then see two file systems.
        output_of(site.host, ["wipefs", "--all", "--quiet", *devices], f"wiping {' '.join(devices)}")
        stripe = stripe_of(array_of(self.wanted))
        aligned = alignment(self.wanted.filesystem, stripe, self.wanted.mkfs)
        argv = mkfs_command(self.wanted, devices, aligned)
        done = run_tool(site.host, argv)
        if done.returncode != 0:
            raise self._refused(below, argv, complaint(done))

    def _refuse_unknown(self, site: Site) -> None:
        kind = self.wanted.filesystem
        if kind in _known(site):
            return
        with suppress(MissingToolError):
            site.host.run(["modprobe", "--quiet", kind])
        known = _known(site)
        if kind not in known:
            raise StorageError(
                f"the kernel of the {site.host.name} host does not support the file "
                f"system {kind}, built in or as a module "
                f"(it supports {', '.join(sorted(known & set(_DISK_FILESYSTEMS)))})",
                _ELSEWHERE.get(kind, _ELSEWHERE_COMMON),
            )

    def _refused(self, below: BuiltLayers, argv: list[str], words: str) -> StorageError:
        ground = below.of(Ground)  # type: ignore[type-abstract]
        size = min(disk.size_bytes for disk in ground.disks[self.volume])
        return StorageError(
            f"{argv[0]} refused to make the file system of {self.volume}: {words}",
            f"the command was: {' '.join(argv)} (the disks have {size // 2**20} MiB each)",
        )

    def _verified(self, site: Site, device: Path) -> FileSystem:
        """Reads back its kind and, where it knows of stripes, those. Raises StorageError."""
        kind = self.wanted.filesystem
        signature = parse_blkid(
            output_of(site.host, ["blkid", "-p", "-o", "export", str(device)], f"looking at {device}")
        )
        if signature.get("TYPE") != kind:
            raise StorageError(f"{device} contains {signature.get('TYPE', 'nothing')}, not {kind}")
        described: dict[str, str] = {"file system": kind}
        if self.wanted.mkfs:
            described["mkfs options"] = " ".join(self.wanted.mkfs)
        if argv := geometry_command(kind, str(device)):
            shown = geometry_shown(kind, output_of(site.host, argv, f"asking {kind} for its stripes"))
            wanted = alignment(kind, stripe_of(array_of(self.wanted)), self.wanted.mkfs)
            if wanted is not None and shown != wanted.shown:
                raise StorageError(
                    f"{kind} on {device} is aligned with {shown or 'nothing'}, not with {wanted.shown}"
                )
            described["alignment"] = shown or "none"
        return FileSystem(self.volume, described, kind, device, signature.get("UUID", ""))


_DISK_FILESYSTEMS = ("ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "reiserfs", "f2fs")


def _known(site: Site) -> set[str]:
    return known_filesystems(site.host.read_text(Path("/proc/filesystems")) or "")


def mkfs_command(volume: Volume, devices: Sequence[str], aligned: Alignment | None) -> list[str]:
    """mkfs for the file system of `volume`: mydyno's options, then the user's own, which win."""
    kind, fresh = volume.filesystem, not volume.disks.devices
    argv = [f"mkfs.{kind}", *_QUIET[kind]]
    if kind in EXT:
        return [*argv, *_ext_options(kind, volume.mkfs, aligned, fresh=fresh), *devices]
    argv += _WITHOUT_DISCARD.get(kind, ()) if fresh else ()
    if kind == "btrfs":
        for flag, profile in (("-d", volume.data_profile), ("-m", volume.metadata_profile)):
            argv += [flag, profile] if profile is not None else []
    return [*argv, *(aligned.options if aligned else ()), *volume.mkfs, *devices]


def _ext_options(kind: str, own: Sequence[str], aligned: Alignment | None, *, fresh: bool) -> list[str]:
    """One -E for all: of several, mke2fs takes the last."""
    extended = ["nodiscard"] if fresh else []
    extended += [_EXT4_AT_ONCE] if kind == "ext4" else []
    extended += [aligned.shown] if aligned else []
    given = option_value(own, "-E")
    extended += [given] if given else []
    block = [] if option_value(own, "-b") else ["-b", str(ext_block(own))]
    return [*block, *(["-E", ",".join(extended)] if extended else []), *_without(own, "-E")]


def _without(words: Sequence[str], flag: str) -> list[str]:
    kept, skip = [], False
    for word in words:
        if not skip and not word.startswith(flag):
            kept.append(word)
        skip = not skip and word == flag
    return kept


def parse_blkid(text: str) -> dict[str, str]:
    """`blkid -p -o export`: NAME=VALUE lines, `TYPE` among them."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def known_filesystems(text: str) -> set[str]:
    """/proc/filesystems: what the kernel can mount now, with or without a device."""
    return {line.split("\t")[-1].strip() for line in text.splitlines() if line.strip()}


def geometry_command(kind: str, device: str) -> list[str] | None:
    """The command that reads the stripes of a file system; None for one without."""
    if kind == "xfs":
        # What xfs_info(8) does too, which is a shell script and takes three times as long in a guest.
        return ["xfs_db", "-r", "-c", "sb 0", "-c", "print blocksize unit width", device]
    return ["dumpe2fs", "-h", device] if kind in EXT else None


def geometry_shown(kind: str, text: str) -> str | None:
    """The stripes in the words of `Alignment.shown`; None when the file system is not aligned."""
    if kind == "xfs":
        numbers = {name: int(value) for name, value in re.findall(r"^(\w+) = (\d+)$", text, re.MULTILINE)}
        unit, width = numbers.get("unit", 0), numbers.get("width", 0)
        return f"su={unit * numbers['blocksize']},sw={width // unit}" if unit else None
    stride = re.search(r"^RAID stride: +(\d+)$", text, re.MULTILINE)
    wide = re.search(r"^RAID stripe width: +(\d+)$", text, re.MULTILINE)
    return f"stride={stride[1]},stripe_width={wide[1]}" if stride and wide else None
