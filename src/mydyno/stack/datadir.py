"""The data directory of one trial: a clone of the frozen dataset, so that all start from the same bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mydyno.stack.dataset import FrozenDataset
from mydyno.stack.files import copy_tree, sync_tree
from mydyno.stack.layer import Standing, fingerprint_of
from mydyno.stack.site import PrivateFolder, Site

# What copying runs at when nothing is known of the disk; only the order of trials depends on it.
_BYTES_A_SECOND = 300e6


@dataclass(frozen=True)
class DataDirectory:
    """A clone that a server may write to, and a scratch folder for its temporary files."""

    data: Path
    scratch: Path
    _folder: PrivateFolder = field(repr=False)


@dataclass(frozen=True)
class DataDirectoryLayer:
    """A fresh clone for the trial of this name; another trial always gets another clone."""

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
        folder = site.roomy_folder()
        try:
            clone = DataDirectory(folder.path / "data", folder.path / "scratch", folder)
            copy_tree(site.host, dataset.data, clone.data)
            site.host.make_folder(clone.scratch, owner=site.host.server_identity)
            sync_tree(site.host, folder.path)
        except BaseException:
            site.remove(folder)
            raise
        return clone

    def down(self, site: Site, product: DataDirectory) -> None:
        site.remove(product._folder)
