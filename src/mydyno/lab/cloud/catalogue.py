"""catalogue.toml, read once: the sizes, disks, images and limits of each provider."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from pydantic import model_validator

from mydyno.core.record import Record

ProviderName = Literal["azure", "aws", "gcp"]
PROVIDERS: tuple[ProviderName, ...] = get_args(ProviderName)
ServerName = Literal["mariadb", "mysql"]


class MachineSize(Record):
    """A size of machine."""

    cpus: int
    memory_gib: int
    disks: int | None = None
    """Data disks that it takes; None: not in the sources."""
    iops: int | None = None
    """What the machine itself lets through to its uncached disks; None: not in the sources."""
    sources: tuple[str, ...]


class Provisioned(Record):
    """IOPS that are ordered with the disk."""

    least: int
    most: int


class Burst(Record):
    """What a disk does for half an hour when it has rested."""

    iops: int
    largest_gib: int
    """Larger disks do not burst by themselves."""


class DiskKind(Record):
    """A kind of disk. One of `tiers`, `provisioned` and `iops_per_gib` says how many IOPS it does."""

    title: str
    smallest_gib: int
    largest_gib: int
    tiers: tuple[tuple[int, int], ...] = ()
    """(GiB, IOPS), the smallest first."""
    provisioned: Provisioned | None = None
    iops_per_gib: int | None = None
    burst: Burst | None = None
    cached_below_gib: int | None = None
    """The host can cache disks that are smaller; None: it caches none of this kind."""
    sources: tuple[str, ...]

    @model_validator(mode="after")
    def _one_way(self) -> DiskKind:
        ways = (bool(self.tiers), self.provisioned is not None, self.iops_per_gib is not None)
        if sum(ways) != 1:
            raise ValueError("one of tiers, provisioned and iops_per_gib is needed")
        if list(self.tiers) != sorted(self.tiers) or (self.tiers and self.tiers[-1][0] != self.largest_gib):
            raise ValueError("the tiers end with the largest disk, the smallest first")
        return self

    def iops_of(self, gib: int, wanted: int | None) -> int:
        """What a disk of this size does, for `wanted` IOPS where they are ordered."""
        if self.provisioned is not None:
            return min(max(wanted or 0, self.provisioned.least), self.provisioned.most)
        if self.iops_per_gib is not None:
            return gib * self.iops_per_gib
        return next(iops for size, iops in self.tiers if gib <= size)


class Image(Record):
    """A system to boot, with cloud-init in it."""

    reference: str
    servers: Mapping[ServerName, str]
    """Server -> its package, which has the binary and no service."""


class Provider(Record):
    title: str
    region: str
    zone: str
    """The zone of the machine, where `{region}` stands for the region."""
    disk_kind: str
    images: Mapping[str, Image]
    machines: Mapping[str, MachineSize]
    """The smallest first."""
    disk_kinds: Mapping[str, DiskKind]

    @model_validator(mode="after")
    def _whole(self) -> Provider:
        if self.disk_kind not in self.disk_kinds:
            raise ValueError(f"no such kind of disk: {self.disk_kind}")
        return self

    @property
    def caches(self) -> bool:
        """Whether its hosts cache any disk."""
        return any(kind.cached_below_gib is not None for kind in self.disk_kinds.values())


class Catalogue(Record):
    sources: Mapping[str, str]
    """Key -> page, section and date."""
    azure: Provider
    aws: Provider
    gcp: Provider

    @model_validator(mode="after")
    def _whole(self) -> Catalogue:
        for name in PROVIDERS:
            provider = self.provider(name)
            rows = {title: row.sources for title, row in provider.machines.items()}
            rows |= {title: row.sources for title, row in provider.disk_kinds.items()}
            for title, sources in rows.items():
                if missing := [key for key in sources if key not in self.sources]:
                    raise ValueError(f"{name}, {title}: no such source: {', '.join(missing)}")
        return self

    def provider(self, name: ProviderName) -> Provider:
        provider: Provider = getattr(self, name)
        return provider


@cache
def catalogue() -> Catalogue:
    return Catalogue.model_validate(tomllib.loads((files(__package__) / "catalogue.toml").read_text("utf-8")))
