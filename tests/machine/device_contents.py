"""Bytes that make a blank disk look like a member of something, as libblkid distinguishes them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

SECTOR = 512


def write_lvm_label(disk: Path) -> None:
    """The label of an LVM physical volume: in sector 1, with its checksum."""
    body = struct.pack("<I8s32s", 32, b"LVM2 001", b"A" * 32).ljust(SECTOR - 20, b"\0")
    # LVM's CRC-32 starts at 0xf597a6cf and is not inverted at the end, as zlib's is.
    checksum = zlib.crc32(body, 0xF597A6CF ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
    _write(disk, SECTOR, struct.pack("<8sQI", b"LABELONE", 1, checksum) + body)


def write_md_superblock(disk: Path) -> None:
    """The start of an md superblock of version 1.2: at 4096 bytes, telling its own offset in sectors."""
    superblock = bytearray(256)
    struct.pack_into("<III", superblock, 0, 0xA92B4EFC, 1, 0)
    superblock[16:32] = b"0123456789abcdef"
    struct.pack_into("<Q", superblock, 144, 8)
    values = struct.unpack("<64I", superblock)
    total = sum(values)
    struct.pack_into("<I", superblock, 216, (total & 0xFFFFFFFF) + (total >> 32))
    _write(disk, 4096, bytes(superblock))


def write_partition_table(disk: Path, first_sector: int, sectors: int) -> None:
    """A table of the old PC kind with one Linux partition."""
    table = bytearray(SECTOR)
    struct.pack_into("<B3sB3sII", table, 446, 0, b"\0" * 3, 0x83, b"\0" * 3, first_sector, sectors)
    table[510:512] = b"\x55\xaa"
    _write(disk, 0, bytes(table))


def _write(disk: Path, offset: int, content: bytes) -> None:
    with disk.open("r+b") as file:
        file.seek(offset)
        file.write(content)
