"""Writing an initial RAM file system: the kernel's own archive format, `newc` cpio.

The format is that of the kernel's Documentation/driver-api/early-userspace/buffer-format.rst: a header
of 13 hexadecimal numbers after the magic, the name, the content, each padded to four bytes. No fact of the
building machine enters (owner root, time 0), so equal entries give equal bytes.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MAGIC = b"070701"
_TRAILER = "TRAILER!!!"


@dataclass(frozen=True)
class Entry:
    """A file or folder; `name` has no leading slash. Folders come before what is in them."""

    name: str
    mode: int
    content: bytes = b""


def file(name: str, content: bytes, permissions: int = 0o644) -> Entry:
    return Entry(name, stat.S_IFREG | permissions, content)


def folder(name: str, permissions: int = 0o755) -> Entry:
    return Entry(name, stat.S_IFDIR | permissions)


def archive(entries: Iterable[Entry]) -> Iterator[bytes]:
    """The archive's bytes, piece by piece. Raises ValueError for a name that comes twice."""
    names: set[str] = set()
    for number, entry in enumerate(entries, start=1):
        if entry.name in names:
            raise ValueError(f"{entry.name} is in the archive twice")
        names.add(entry.name)
        yield _header(number, entry)
        yield _padded(entry.content)
    yield _header(0, Entry(_TRAILER, 0))


def _header(number: int, entry: Entry) -> bytes:
    name = entry.name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    user = group = time = device_major = device_minor = check = 0
    fields = (
        *(number, entry.mode, user, group, links, time, len(entry.content)),
        *(device_major, device_minor, device_major, device_minor, len(name), check),
    )
    return _padded(_MAGIC + b"".join(b"%08X" % field for field in fields) + name)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)
