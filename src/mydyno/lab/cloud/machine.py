"""The machine that a setup asks for, in the words of a provider: its size, its disks, and what differs.

A cloud disk has a smallest size and its own IOPS, and no provider limits a disk to any number that an
experiment may have. Where the machine cannot be what the experiment says, a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from mydyno.core.document.sizes import GIBIBYTE
from mydyno.core.errors import UsageError
from mydyno.core.nearest import did_you_mean
from mydyno.core.plurals import counted
from mydyno.core.raid import level_title
from mydyno.lab.cloud.catalogue import (
    DiskKind,
    Image,
    MachineSize,
    Provider,
    ProviderName,
    ServerName,
    catalogue,
)
from mydyno.lab.spec import Setup, Volume

USER = "mydyno"
"""The user that mydyno logs in as."""
MOUNTS = "/srv/mydyno"
"""The folder that has a mount point for each volume."""
NOFILE = 65536
"""Open files where the experiment has no limit: that of the guides of 2015 for MySQL on Azure."""

Caching = Literal["none", "read-only", "read-write"]
CACHINGS: tuple[Caching, ...] = get_args(Caching)
NOT_CACHED: Caching = "none"


@dataclass(frozen=True)
class Choices:
    """What a command line says of the machine. None: as the setup or the catalogue has it."""

    provider: ProviderName
    public_key: str
    """A line of an OpenSSH public key."""
    ssh_from: str
    """The network that may reach the machine's sshd, as 203.0.113.7/32."""
    region: str | None = None
    zone: str | None = None
    size: str | None = None
    disk_kind: str | None = None
    image: str | None = None
    server: ServerName = "mariadb"
    caching: Mapping[str, Caching] = field(default_factory=dict)
    """Volume -> how its host caches its disks."""


@dataclass(frozen=True)
class CloudDisk:
    """One disk. `number` counts through all volumes: the LUN, where disks have one."""

    volume: str
    index: int
    number: int
    gib: int
    iops: int
    caching: Caching

    @property
    def name(self) -> str:
        """`data-0`: unique on its machine."""
        return f"{self.volume}-{self.index}"


@dataclass(frozen=True)
class CloudVolume:
    name: str
    wanted: Volume
    disks: tuple[CloudDisk, ...]

    @property
    def mount_point(self) -> str:
        return f"{MOUNTS}/{self.name}"

    @property
    def described(self) -> str:
        """`RAID 10 of 4 disks, xfs`."""
        disks = counted(len(self.disks), "disk")
        array = f"{level_title(self.wanted.raid)} of {disks}" if self.wanted.raid != "none" else disks
        return f"{array}, {self.wanted.filesystem}"


@dataclass(frozen=True)
class CloudMachine:
    """All that the files are made of."""

    name: str
    """Of the machine, and in hosts.yaml."""
    provider: ProviderName
    region: str
    zone: str
    size: str
    disk_kind: str
    image: Image
    server_package: str
    public_key: str
    ssh_from: str
    volumes: tuple[CloudVolume, ...]
    nofile: int
    nproc: int | None
    notes: tuple[str, ...]
    """Where the machine differs from the experiment, or may."""
    more_packages: tuple[str, ...] = ()
    """Besides those of the server and the volumes."""

    @property
    def disks(self) -> tuple[CloudDisk, ...]:
        return tuple(disk for volume in self.volumes for disk in volume.disks)

    @property
    def kind(self) -> DiskKind:
        return catalogue().provider(self.provider).disk_kinds[self.disk_kind]


def machine_of(experiment: str, setup: Setup, choices: Choices) -> CloudMachine:
    """The machine for `setup` of the experiment of this name. Raises UsageError for what no cloud has."""
    provider = catalogue().provider(choices.provider)
    kind_name = _one_of("kind of disk", choices.disk_kind or provider.disk_kind, provider.disk_kinds)
    kind = provider.disk_kinds[kind_name]
    volumes = tuple(_volumes(setup, choices, provider, kind_name, kind))
    disks = tuple(disk for volume in volumes for disk in volume.disks)
    size, size_notes = _size(setup, choices, provider, disks)
    image_name = _image(choices, provider)
    image = provider.images[image_name]
    if choices.server not in image.servers:
        raise UsageError(
            f"--server {choices.server}: {image_name} has no package of it without a service",
            f"--server {' or '.join(image.servers)}, or another --image",
        )
    region = choices.region or provider.region
    limits = setup.limits
    return CloudMachine(
        name=f"mydyno-{experiment}"[:40].rstrip("-"),
        provider=choices.provider,
        region=region,
        zone=choices.zone or provider.zone.format(region=region),
        size=size,
        disk_kind=kind_name,
        image=image,
        server_package=image.servers[choices.server],
        public_key=choices.public_key,
        ssh_from=choices.ssh_from,
        volumes=volumes,
        nofile=(limits.nofile if limits is not None else None) or NOFILE,
        nproc=limits.nproc if limits is not None else None,
        notes=(*size_notes, *_notes(setup, volumes, kind_name, kind)),
    )


def _one_of(what: str, name: str, known: Mapping[str, object]) -> str:
    if name not in known:
        raise UsageError(
            f"unknown {what} '{name}'", did_you_mean(name, known, f"there are: {', '.join(known)}")
        )
    return name


def _image(choices: Choices, provider: Provider) -> str:
    name = choices.image or next(iter(provider.images))
    return _one_of(f"image of {provider.title}", name, provider.images)


def _volumes(
    setup: Setup, choices: Choices, provider: Provider, kind_name: str, kind: DiskKind
) -> Iterator[CloudVolume]:
    if setup.storage is None:
        raise UsageError(
            "the experiment has no setup.storage: there are no disks to attach",
            "for example storage: {data: {disks: {count: 4, size: 128G}, raid: 0, filesystem: xfs}}",
        )
    wanted = setup.storage.volumes
    for name in choices.caching:
        _one_of("volume", name, wanted)
    number = 0
    for name, volume in wanted.items():
        _refuse_impossible(name, volume)
        caching = choices.caching.get(name, NOT_CACHED)
        gib = max(-(-volume.disks.size // GIBIBYTE), kind.smallest_gib)
        _refuse_size(name, gib, kind_name, kind)
        _refuse_caching(name, gib, caching, provider, kind_name, kind)
        disks = tuple(
            CloudDisk(name, index, number + index, gib, kind.iops_of(gib, volume.disks.iops), caching)
            for index in range(volume.disks.count)
        )
        number += len(disks)
        yield CloudVolume(name, volume, disks)


def _refuse_impossible(name: str, volume: Volume) -> None:
    where = f"setup.storage.{name}"
    if volume.disks.devices:
        raise UsageError(
            f"{where}.disks names real disks of this machine", "give their count and size instead"
        )
    if volume.filesystem == "raw":
        raise UsageError(
            f"{where}.filesystem: raw is not possible: `mydyno run` finds a mounted folder over ssh",
            "a file system, as filesystem: xfs",
        )
    if volume.fail:
        raise UsageError(
            f"{where}.fail: disks of the machine are not failed: `mydyno run` does not change them over ssh",
            "leave fail out",
        )


def _refuse_size(name: str, gib: int, kind_name: str, kind: DiskKind) -> None:
    if gib > kind.largest_gib:
        raise UsageError(
            f"setup.storage.{name}.disks.size: a {kind_name} disk has at most {kind.largest_gib:,} GiB",
            "more and smaller disks, or another --disk-kind",
        )


def _refuse_caching(
    name: str, gib: int, caching: Caching, provider: Provider, kind_name: str, kind: DiskKind
) -> None:
    if caching == NOT_CACHED:
        return
    asked = f"--caching {name}={caching}"
    if not provider.caches:
        raise UsageError(f"{asked}: hosts of {provider.title} do not cache disks", "leave --caching out")
    if kind.cached_below_gib is None:
        raise UsageError(
            f"{asked}: no host caches a {kind_name} disk", "leave it out, or another --disk-kind"
        )
    if gib >= kind.cached_below_gib:
        raise UsageError(
            f"{asked}: hosts cache disks below {kind.cached_below_gib} GiB, and this one has {gib}",
            "smaller disks, or leave --caching out",
        )


def _size(
    setup: Setup, choices: Choices, provider: Provider, disks: tuple[CloudDisk, ...]
) -> tuple[str, tuple[str, ...]]:
    """The name of a size, and what to know of it."""
    wanted = sum(disk.iops for disk in disks)
    if choices.size is not None:
        size = provider.machines.get(choices.size)
        if size is None:
            note = f"mydyno does not know the limits of {choices.size}: how many disks it takes, and its IOPS"
            return choices.size, (note,)
        if not _takes(size, len(disks)):
            raise UsageError(
                f"--machine-size {choices.size} takes at most {size.disks} data disks, "
                f"and the experiment has {len(disks)}",
                "a larger size, or fewer disks",
            )
        return choices.size, _limited(choices.size, size, wanted)
    memory = (setup.host.memory or 0) / GIBIBYTE
    large = {
        name: size
        for name, size in provider.machines.items()
        if _takes(size, len(disks)) and size.cpus >= (setup.host.cpus or 1) and size.memory_gib >= memory
    }
    if not large:
        raise UsageError(
            f"no machine size of {provider.title} that mydyno knows takes {counted(len(disks), 'data disk')} "
            f"with {setup.host.cpus or 1} CPUs and {memory:g} GiB of memory",
            "--machine-size names another one",
        )
    fast = [name for name, size in large.items() if size.iops is None or size.iops >= wanted]
    name = fast[0] if fast else list(large)[-1]
    return name, _limited(name, large[name], wanted)


def _takes(size: MachineSize, disks: int) -> bool:
    return size.disks is None or size.disks >= disks


def _limited(name: str, size: MachineSize, wanted: int) -> tuple[str, ...]:
    if size.iops is None:
        return (f"mydyno does not know how many IOPS {name} lets through to all its disks together",)
    if size.iops >= wanted:
        return ()
    return (f"{name} lets {size.iops:,} IOPS through to all its disks, which together do {wanted:,}",)


def _notes(setup: Setup, volumes: tuple[CloudVolume, ...], kind_name: str, kind: DiskKind) -> Iterator[str]:
    for volume in volumes:
        wanted, disk = volume.wanted.disks, volume.disks[0]
        if disk.gib * GIBIBYTE != wanted.size:
            yield f"{volume.name}: each disk has {disk.gib} GiB, more than the experiment's"
        if wanted.iops is not None and disk.iops != wanted.iops:
            yield (
                f"{volume.name}: each {kind_name} disk of {disk.gib} GiB does {disk.iops:,} IOPS, and the "
                f"experiment says {wanted.iops:,}"
            )
        if kind.burst is not None and disk.gib <= kind.burst.largest_gib:
            yield (
                f"{volume.name}: a {kind_name} disk that has rested does up to {kind.burst.iops:,} IOPS for "
                "30 minutes: load it for longer before you measure, or choose another --disk-kind"
            )
        if wanted.bandwidth is not None:
            yield f"{volume.name}: the experiment's bandwidth is not set; that of {kind.title} counts"
        if volume.wanted.filesystem in ("jfs", "reiserfs"):
            yield f"{volume.name}: kernels for clouds may lack {volume.wanted.filesystem}"
    others = [volume.name for volume in volumes if volume.name != "data"]
    if others:
        yield (
            f"{', '.join(others)}: built and mounted, but `mydyno run` has all files of the server on data "
            "over ssh"
        )
    if setup.host.kernel is not None:
        yield f"the machine has the kernel of its image, not {setup.host.kernel}"
