"""The initial RAM disk of a guest: the agent as its first process, the engine, kernel modules."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from mydyno.core.writing import writing
from mydyno.machine.images import ImageStore
from mydyno.machine.images.cpio import Entry, archive, file, folder
from mydyno.machine.vm.machine import CHANNEL, SharedFolder

PROGRAMS = Path("/run/mydyno/bin")
"""Where mydyno's own programs are in the guest."""

_KEPT = 8

# The largest message that a virtio queue of 128 pages takes with its head; without cache each side sees
# at once what the other has written.
_SHARE_OPTIONS = "trans=virtio,version=9p2000.L,msize=512000,cache=none"

# What is never written need not be requested again: programs run from such a folder.
_READ_ONLY_OPTIONS = _SHARE_OPTIONS.replace("cache=none", "cache=loose")


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
