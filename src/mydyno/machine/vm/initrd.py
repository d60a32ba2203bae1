"""The initial RAM disk of a guest: the agent as its first process, the engine, kernel modules.

The format is that of the kernel's Documentation/driver-api/early-userspace/buffer-format.rst: a header
of 13 hexadecimal numbers after the magic, the name, the content, each padded to four bytes. No fact of the
building machine enters (owner root, time 0), so equal entries give equal bytes.
"""

import hashlib
import json
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.writing import writing
from mydyno.machine.images import ImageStore
from mydyno.machine.vm.machine import CHANNEL, SharedFolder

PROGRAMS = Path("/run/mydyno/bin")
"""Where mydyno's own programs are in the guest."""

_KEPT = 8

# The largest message that a virtio queue of 128 pages takes with its head; without cache each side sees
# at once what the other has written.
_SHARE_OPTIONS = "trans=virtio,version=9p2000.L,msize=512000,cache=none"

# What is never written need not be requested again: programs run from such a folder.
_READ_ONLY_OPTIONS = _SHARE_OPTIONS.replace("cache=none", "cache=loose")
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


def guest_config(modules: Sequence[Path], folders: Sequence[SharedFolder]) -> dict[str, object]:
    """The agent's settings (docs/reference/agent-protocol.md); `modules` in the order of loading."""
    return {
        "modules": [f"/modules/{module.name}" for module in modules],
        "root": {"device": "/dev/vda", "filesystem": "erofs"},
        "programs": {"source": "/mydyno", "target": str(PROGRAMS)},
        "shares": [
            {
                "filesystem": "9p",
                "source": shared.tag,
                "target": str(shared.folder),
                "options": _READ_ONLY_OPTIONS if shared.access == "read-only" else _SHARE_OPTIONS,
                "read_only": shared.access == "read-only",
            }
            for shared in folders
        ],
        "channel": {"virtio_port": CHANNEL},
        "hostname": "mydyno",
    }


def entries(modules: Sequence[Path], programs: Sequence[Path], config: dict[str, object]) -> list[Entry]:
    """What the archive holds."""
    return [
        folder("mydyno"),
        *(file(f"mydyno/{program.name}", program.read_bytes(), 0o755) for program in programs),
        folder("modules"),
        *(file(f"modules/{module.name}", module.read_bytes()) for module in modules),
        file("config.json", json.dumps(config, sort_keys=True).encode()),
    ]


def make_initrd(store: ImageStore, content: Sequence[Entry]) -> Path:
    """The archive of these entries, from the store when an equal one was made before. Raises LabError."""
    data = b"".join(archive(content))
    place = store.initrd(hashlib.sha256(data).hexdigest()[:16])
    if place.exists():
        with writing(place):
            place.touch()
        return place
    with store.staging() as staging:
        with writing(staging):
            (staging / place.name).write_bytes(data)
        store.put(staging / place.name, place)
        by_age = sorted(place.parent.iterdir(), key=lambda old: old.stat().st_mtime, reverse=True)
        for old in by_age[_KEPT:]:
            old.unlink()
    return place
