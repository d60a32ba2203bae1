"""How far the kernel reads ahead on a volume.

It is the device under the file system that counts: a file on an array is read ahead by the array's
setting, and its members' are without effect. btrfs has a separate setting for each file system.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from mydyno.core.errors import StorageError
from mydyno.lab.stack.layer import BuiltLayers
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.storage.built import Built, FileSystem, of_volume
from mydyno.lab.stack.storage.queues import Changed, queue_of, restore, set_number
from mydyno.lab.stack.storage.tools import setting
from mydyno.lab.stack.storage.volume_layer import VolumeLayer

_HINT = "it must be a multiple of 4K (whole pages)"


@dataclass(frozen=True)
class Readahead(Built):
    """The readahead of a volume, as it is set."""

    change: Changed | None = field(repr=False)


@dataclass(frozen=True)
class ReadaheadLayer(VolumeLayer):
    """Sets the readahead of the volume's own device, or leaves it, and reads it back."""

    part: ClassVar[str] = "readahead"
    shaping: ClassVar[tuple[str, ...]] = ("readahead",)

    def side_effects(self) -> tuple[str, ...]:
        return () if self.wanted.readahead is None else (f"sets the readahead of {self.volume}",)

    def build(self, site: Site, below: BuiltLayers) -> Readahead:
        filesystem = of_volume(below, FileSystem, self.volume)
        own = filesystem.kind == "btrfs"
        path = (
            Path("/sys/fs/btrfs") / filesystem.uuid / "bdi" / "read_ahead_kb"
            if own
            else queue_of(site.host, filesystem.device) / "read_ahead_kb"
        )
        changed = None if self.wanted.readahead is None else self._set(site, path, goes_with_mount=own)
        now = setting(site.host, path)
        return Readahead(self.volume, {} if now is None else {"readahead": f"{now}K"}, changed)

    def remove(self, site: Site, product: Readahead) -> None:
        if product.change is not None:
            restore(site, product.change)

    def _set(self, site: Site, path: Path, *, goes_with_mount: bool) -> Changed | None:
        assert self.wanted.readahead is not None
        kibibytes, rest = divmod(self.wanted.readahead, 1024)
        if rest:
            raise StorageError(f"a readahead of {self.wanted.readahead} bytes cannot be set", _HINT)
        return set_number(site, path, kibibytes, _HINT, journalled=not goes_with_mount)
