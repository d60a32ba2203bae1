"""The data directory of one trial: a clone of the frozen dataset, so that all start from the same bytes."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from mydyno.core.errors import LabError, StorageError
from mydyno.core.server_files import FileKind, home_of
from mydyno.core.server_variables import Setting
from mydyno.core.units import format_bytes
from mydyno.lab.stack.dataset import FrozenDataset
from mydyno.lab.stack.datasets.manifest import refuse_another_release
from mydyno.lab.stack.disk_base import DiskBase
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.site import PrivateFolder, Site
from mydyno.lab.stack.storage import MountedVolume
from mydyno.machine.environment import shares_blocks
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Host
from mydyno.machine.trees import LONGEST_COPY_SECONDS, copy_tree, send_tree, sync_tree
from mydyno.server.program.file_places import KINDS, Kind, Place

# What copying runs at when nothing is known of the disk; only the order of trials depends on it.
_BYTES_A_SECOND = 300e6

_ON_VOLUME = "mydyno"
"""The one folder that mydyno makes on a volume."""


@dataclass(frozen=True)
class Clone:
    """How the data of a trial came to be."""

    how: Literal["reflink", "copy", "overlay"]
    """`overlay`: it came with disks that are overlays of a base, which holds a copy."""
    seconds: float
    """Without the sync that follows."""


def clone_tree(host: Host, source: Path, target: Path, size_bytes: int) -> Clone:
    """Clones the folder `source`, whose files take `size_bytes`, as the new folder `target` on `host`.

    Raises LabError with numbers when a copy would not fit; whatever goes wrong, `target` is removed.
    """
    if host.work_folder is not None:
        source = _sent(host, source, host.work_folder, size_bytes)
    started = time.monotonic()
    # Volumes and guests have file systems of their own, with which this machine's shares nothing.
    shared = isinstance(host, LocalHost) and shares_blocks(source.parent, target.parent)
    if not shared:
        _check_room(host, source, target, size_bytes)
    try:
        copy_tree(host, source, target)
    except BaseException:
        host.remove_tree(target)
        raise
    return Clone("reflink" if shared else "copy", time.monotonic() - started)


def _sent(host: Host, source: Path, work: Path, size_bytes: int) -> Path:
    """The dataset on another machine, which gets it once in a session."""
    there = work / f"dataset-{source.parent.name}"
    if not host.exists(there):
        part = there.with_suffix(".part")
        _check_room(host, source, part, size_bytes)
        host.remove_tree(part)
        send_tree(host, source, part)
        if (owner := host.server_identity) is not None:
            _do(host, ["chown", "-R", f"{owner.uid}:{owner.gid}", str(part)], part)
        _do(host, ["mv", "-T", "--", str(part), str(there)], there)
    return there


def _check_room(host: Host, source: Path, target: Path, size_bytes: int) -> None:
    free = host.facts(target.parent).free_disk_bytes
    if free is None or free >= size_bytes:
        return
    raise LabError(
        f"the data does not fit: a copy of {source} takes {format_bytes(size_bytes)}, and "
        f"{target.parent} has {format_bytes(free)} free",
        "free some space (`mydyno datasets list` shows what the lab keeps), take fewer rows, or larger disks "
        "where it is a volume; a lab on xfs or btrfs shares the blocks and copies nothing: --lab FOLDER",
    )


@dataclass(frozen=True)
class DataDirectory:
    """A clone that a server may write to, and a scratch folder for its temporary files.

    `places` are those of files that are not in `data` but on a separate volume. `settings` name a system
    tablespace on a raw device.
    """

    data: Path
    scratch: Path
    places: Mapping[FileKind, Place]
    settings: Mapping[str, Setting]
    release: str
    """Of the only server that may be started on it."""
    clone: Clone
    _folders: tuple[Path, ...] = field(repr=False)
    _private: PrivateFolder | None = field(repr=False)
    """None on volumes, which are removed as a whole; `_folders` are what is removed from them."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Those that hold all of its files."""
        return tuple(dict.fromkeys([self.data.parent, *(place.folder for place in self.places.values())]))


@dataclass(frozen=True)
class DataDirectoryLayer:
    """A fresh clone for the trial of this name; another trial always gets another clone.

    It is made on the volumes below; without them in a private folder. Restored disks hold it already.
    """

    trial: str
    dataset_bytes: int = 0
    name: str = field(default="data directory", init=False)

    @property
    def cost_seconds(self) -> float:
        return 1.0 + self.dataset_bytes / _BYTES_A_SECOND

    def fingerprint(self) -> str:
        return fingerprint_of({"trial": self.trial})

    def side_effects(self) -> tuple[str, ...]:
        return ("keeps the data directory in /var/tmp/mydyno-* when the server's user cannot enter the lab",)

    def build(self, site: Site, below: BuiltLayers) -> DataDirectory:
        """Copies and syncs: the writing of the copy must not fall into the measurement."""
        if bases := below.all(DiskBase):
            return _taken_over(site.host, bases[-1], below.of(FrozenDataset))
        dataset = below.of(FrozenDataset)
        refuse_another_release(dataset.data, dataset.release)
        volumes = {volume.volume: volume for volume in below.all(MountedVolume)}
        if "data" not in volumes:
            folder = site.roomy_folder()
            try:
                return _clone(site.host, dataset, folder.path, folder)
            except BaseException:
                site.remove(folder)
                raise
        directory = _on_volumes(site.host, dataset, volumes)
        ground = below.of(Ground)  # type: ignore[type-abstract]
        return replace(directory, _folders=()) if ground.contents == "kept" else directory

    def remove(self, site: Site, product: DataDirectory) -> None:
        if product._private is not None:
            site.remove(product._private)
        else:
            for folder in product._folders:
                site.host.remove_tree(folder)


def _taken_over(host: Host, base: DiskBase, dataset: FrozenDataset) -> DataDirectory:
    """The clone that the disks came with."""
    manifest = base.manifest
    if not host.exists(manifest.data / "mysql"):
        raise StorageError(f"the disks of the base {base.name} hold no data directory in {manifest.data}")
    clone = Clone("overlay", 0.0)
    return DataDirectory(
        manifest.data, manifest.scratch, manifest.places, manifest.settings, dataset.release, clone, (), None
    )


def _on_volumes(host: Host, dataset: FrozenDataset, volumes: Mapping[str, MountedVolume]) -> DataDirectory:
    """Each kind of files goes to its volume. When the data volume is raw, all but the system tablespace, and
    what has a separate volume, goes to the log volume."""
    data = volumes["data"]
    rest = volumes.get("log") if _raw(data) else data
    if rest is None or _raw(rest):
        raise StorageError(
            f"{data.device} holds InnoDB's system tablespace only: other files need a file system",
            "define setup.storage.log with a file system",
        )
    folders = {name: each.path / _ON_VOLUME for name, each in volumes.items() if not _raw(each)}
    for folder in folders.values():
        host.make_folder(folder, owner=host.server_identity)
    home = folders[rest.volume]
    clone = _clone(host, dataset, home, None, tuple(folders.values()))
    places = {
        kind.name: Place(folder, clone.data)
        for kind in KINDS
        if (folder := folders.get(home_of(kind.name, volumes), home)) != home
    }
    for kind in KINDS:
        if kind.name in places:
            _move(host, dataset, kind, places[kind.name])
    settings = _to_device(host, clone.data / "ibdata1", data.device) if _raw(data) else {}
    for folder in folders.values():
        _own_and_sync(host, folder)
    temporary = places.get("temporary files")
    scratch = clone.scratch if temporary is None else temporary.scratch
    return replace(clone, scratch=scratch, places=places, settings=settings)


def _raw(volume: MountedVolume) -> bool:
    """Whether there is no file system on it."""
    return volume.path == volume.device


def _clone(
    host: Host,
    dataset: FrozenDataset,
    home: Path,
    private: PrivateFolder | None,
    folders: tuple[Path, ...] = (),
) -> DataDirectory:
    done = clone_tree(host, dataset.data, home / "data", dataset.size_bytes)
    clone = DataDirectory(home / "data", home / "scratch", {}, {}, dataset.release, done, folders, private)
    host.make_folder(clone.scratch, owner=host.server_identity)
    _own_and_sync(host, home)
    return clone


def _own_and_sync(host: Host, folder: Path) -> None:
    """A guest sees the cached dataset as the user's that runs mydyno, who need not be the server's."""
    owner = host.server_identity
    if owner is not None:
        _do(host, ["chown", "-R", f"{owner.uid}:{owner.gid}", str(folder)], folder)
    sync_tree(host, folder)


def _to_device(host: Host, tablespace: Path, device: Path) -> dict[str, Setting]:
    """Moves the system tablespace to a raw device, which the server may then open.

    MySQL Reference Manual, "Using Raw Disk Partitions for the System Tablespace": `raw` after the size.
    """
    size = _mib(host, tablespace)
    _do(host, ["dd", f"if={tablespace}", f"of={device}", "bs=1M", "conv=fsync"], device)
    host.remove_tree(tablespace)
    if host.server_identity is not None:
        _do(host, ["chown", str(host.server_identity.uid), str(device)], device)
    return {"innodb_data_home_dir": "", "innodb_data_file_path": f"{device}:{size}Mraw"}


def _mib(host: Host, tablespace: Path) -> int:
    """Whole MiB of the file, which was made with a fixed size."""
    done = host.run(["stat", "--format=%s", str(tablespace)])
    if done.returncode != 0:
        raise LabError(f"the dataset has no system tablespace {tablespace.name}: {done.stderr.strip()}")
    return int(done.stdout) // 1024**2


def _move(host: Host, dataset: FrozenDataset, kind: Kind, place: Place) -> None:
    """From the clone to the place; the names are those of the dataset, which are the clone's."""
    for folder in kind.folders(place):
        host.make_folder(folder, owner=host.server_identity)
    moved = [each.name for each in dataset.data.iterdir() if re.fullmatch(kind.at_rest, each.name)]
    if moved:
        names = [str(place.data / name) for name in sorted(moved)]
        _do(host, ["mv", "-t", str(place.folder), "--", *names], place.folder)


def _do(host: Host, argv: list[str], place: Path) -> None:
    done = host.run(argv, timeout_seconds=LONGEST_COPY_SECONDS)
    if done.returncode != 0:
        raise LabError(f"the data directory could not be created in {place}: {done.stderr.strip()}")
