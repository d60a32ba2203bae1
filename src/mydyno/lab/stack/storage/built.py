"""What the storage layers share, and what they give: of which volume it is, and what was read back of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from mydyno.lab.spec.storage import Volume
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.site import Site

FLUSHES = "fsync empties the disk's cache"
"""Of a mounted volume: `yes`, or `no` where a loss of power takes what was synced."""


@dataclass(frozen=True)
class Built:
    """One layer of a volume that is built."""

    volume: str
    """Its name: `data`, `log`..."""
    described: Mapping[str, str]
    """What the kernel and the tools report of it, for people and results: `scheduler` -> `none`."""


@dataclass(frozen=True)
class Array(Built):
    """A volume's disks together, or its one disk itself."""

    device: Path
    """The array; without one (a single disk, btrfs over several) the first disk."""
    members: tuple[Path, ...]
    stays: bool = False
    """Whether its superblocks are left on the disks when it is removed."""
    undo: int | None = field(default=None, repr=False)


@dataclass(frozen=True)
class FileSystem(Built):
    """A file system, not yet mounted; of kind `raw` where there is none."""

    kind: str
    device: Path
    uuid: str = ""


@dataclass(frozen=True)
class MountedVolume(Built):
    """A volume in use: `path` is the folder of its file system, or (raw) the block device itself."""

    path: Path
    device: Path
    undo: int | None = field(default=None, repr=False)


_Storey = TypeVar("_Storey", bound=Built)


def of_volume(below: BuiltLayers, kind: type[_Storey], volume: str) -> _Storey:
    """The product of this kind that belongs to `volume`. Raises StopIteration when there is none."""
    return next(each for each in reversed(below.all(kind)) if each.volume == volume)


def described(built: BuiltLayers) -> dict[str, dict[str, str]]:
    """Everything that was read back of each volume, bottom first."""
    volumes: dict[str, dict[str, str]] = {}
    for each in built.all(Built):
        volumes.setdefault(each.volume, {}).update(each.described)
    return volumes


@dataclass(frozen=True)
class VolumeLayer:
    """One layer of a volume. A subclass builds it, and overrides what it has of side effects and removal."""

    volume: str
    wanted: Volume
    part: ClassVar[str]
    """Its name after that of the volume: `scheduler`."""
    shaping: ClassVar[tuple[str, ...]]
    """Fields of the volume that distinguish two such layers."""
    cost_seconds: ClassVar[float] = 0.1

    @property
    def name(self) -> str:
        return f"{self.volume} {self.part}"

    def fingerprint(self) -> str:
        return fingerprint_of({field: getattr(self.wanted, field) for field in self.shaping})

    def side_effects(self) -> tuple[str, ...]:
        return ()

    def remove(self, site: Site, product: Any) -> None:
        """It goes with the layers below."""
