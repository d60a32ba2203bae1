"""The data directory of one trial: a clone of the frozen dataset, so that all start from the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mydyno.core.errors import LabError
from mydyno.host.identity import Identity
from mydyno.host.protocol import Host
from mydyno.stack.dataset import FrozenDataset
from mydyno.stack.files import LONGEST_COPY_SECONDS, copy_tree, sync_tree
from mydyno.stack.layer import Standing, fingerprint_of
from mydyno.stack.site import PrivateFolder, Site
from mydyno.stack.storage import MountedVolume

# What copying runs at when nothing is known of the disk; only the order of trials depends on it.
_BYTES_A_SECOND = 300e6

_ON_VOLUME = "mydyno"
"""The one folder that mydyno makes on a volume."""


@dataclass(frozen=True)
class DataDirectory:
    """A clone that a server may write to, and a scratch folder for its temporary files.

    `logs`, on the log volume, holds the redo log and is for the binary log; None: both are in `data`.
    """

    data: Path
    scratch: Path
    logs: Path | None
    _private: PrivateFolder | None = field(repr=False)
    """None on volumes, which are taken down as a whole."""


@dataclass(frozen=True)
class DataDirectoryLayer:
    """A fresh clone for the trial of this name; another trial always gets another clone.

    It is made on the volumes below; without them in a private folder.
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

    def up(self, site: Site, below: Standing) -> DataDirectory:
        """Copies and syncs: the writing of the copy must not fall into the measurement."""
        dataset = below.of(FrozenDataset)
        volumes = {volume.name: volume for volume in below.all(MountedVolume)}
        if "data" not in volumes:
            folder = site.roomy_folder()
            try:
                return _clone(site.host, dataset, folder.path, None, folder)
            except BaseException:
                site.remove(folder)
                raise
        return _on_volumes(site.host, dataset, volumes)

    def down(self, site: Site, product: DataDirectory) -> None:
        if product._private is not None:
            site.remove(product._private)
        else:
            for folder in filter(None, (product.data.parent, product.logs)):
                site.host.remove_tree(folder)


def _on_volumes(host: Host, dataset: FrozenDataset, volumes: Mapping[str, MountedVolume]) -> DataDirectory:
    home = volumes["data"].path / _ON_VOLUME
    host.make_folder(home, owner=host.server_identity)
    logs = None
    if "log" in volumes:
        logs = volumes["log"].path / _ON_VOLUME
        host.make_folder(logs, owner=host.server_identity)
    return _clone(host, dataset, home, logs, None)


def _clone(
    host: Host, dataset: FrozenDataset, home: Path, logs: Path | None, private: PrivateFolder | None
) -> DataDirectory:
    clone = DataDirectory(home / "data", home / "scratch", logs, private)
    copy_tree(host, dataset.data, clone.data)
    host.make_folder(clone.scratch, owner=host.server_identity)
    if logs is not None:
        _move_redo_log(host, dataset, clone.data, logs)
        sync_tree(host, logs)
    if host.server_identity is not None:
        _give(host, home, host.server_identity)
    sync_tree(host, home)
    return clone


def _move_redo_log(host: Host, dataset: FrozenDataset, data: Path, logs: Path) -> None:
    """InnoDB keeps it in ib_logfile0, ib_logfile1..., MySQL since 8.0.30 in the folder #innodb_redo."""
    names = [each.name for each in dataset.data.iterdir()]
    redo = [name for name in names if name.startswith("ib_logfile") or name == "#innodb_redo"]
    if redo:
        _do(host, ["mv", "-t", str(logs), "--", *(str(data / name) for name in redo)], logs)


def _give(host: Host, folder: Path, owner: Identity) -> None:
    """A guest sees the cached dataset as the user's that runs mydyno, who need not be the server's."""
    _do(host, ["chown", "-R", f"{owner.uid}:{owner.gid}", str(folder)], folder)


def _do(host: Host, argv: list[str], place: Path) -> None:
    done = host.run(argv, timeout_seconds=LONGEST_COPY_SECONDS)
    if done.returncode != 0:
        raise LabError(f"the data directory could not be made in {place}: {done.stderr.strip()}")
