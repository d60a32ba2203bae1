"""Command lines of mkfs, and of what reads a file system afterwards: pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mydyno.lab.spec.alignment import EXT, Alignment, ext_block, option_value
from mydyno.lab.spec.storage import Volume

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
