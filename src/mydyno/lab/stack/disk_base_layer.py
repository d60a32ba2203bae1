"""The layer of a base: made once with the layers of a trial, in a separate guest, and frozen."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from mydyno.core.errors import LabError, StorageError
from mydyno.core.units import format_bytes
from mydyno.core.writing import writing
from mydyno.lab.plan.layers import as_built
from mydyno.lab.plan.room import taken_bytes
from mydyno.lab.spec.host import Host
from mydyno.lab.spec.storage import Storage
from mydyno.lab.stack import disk_base
from mydyno.lab.stack.datadir import DataDirectory, DataDirectoryLayer
from mydyno.lab.stack.dataset import DatasetLayer, FrozenDataset
from mydyno.lab.stack.ground.vm import VmGround, VmGroundLayer
from mydyno.lab.stack.layer import BuiltLayers, Layer, fingerprint_of
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.stack import Stack
from mydyno.lab.stack.storage import building_layers
from mydyno.machine.environment import read_facts, usable_cpus
from mydyno.machine.images import ImageStore
from mydyno.machine.trees import size_of_tree
from mydyno.machine.vm.chosen import chosen_kernel, chosen_root


@dataclass(frozen=True)
class DiskBaseLayer:
    """The base of a storage with a dataset in its cache, made when it is not there yet.

    `folder`, the trial's own, gets the console's log of the guest that makes it.
    """

    host: Host
    storage: Storage
    dataset: DatasetLayer
    folder: Path = field(compare=False)
    cost_seconds: float = 40.0
    name: str = field(default="base of the disks", init=False)

    def fingerprint(self) -> str:
        return fingerprint_of(
            {
                "host": self.host.model_dump(mode="json"),
                "storage": as_built(self.storage).model_dump(mode="json"),
                "dataset": self.dataset.fingerprint(),
            }
        )

    def side_effects(self) -> tuple[str, ...]:
        return (
            "boots a QEMU guest that builds the storage and clones the dataset, once per combination; "
            "its disks are kept in the lab's cache",
        )

    def build(self, site: Site, below: BuiltLayers) -> disk_base.DiskBase:
        """Raises StorageError without room or for what cannot be built, MissingToolError, HostError."""
        shaped_by = self._shaped_by()
        place = disk_base.bases_folder(site.lab) / fingerprint_of(shaped_by)
        base = disk_base.read_base(place)
        if base is None:
            disk_base.remove_useless(site.lab)
            self._refuse_without_room(site, below.of(FrozenDataset))
            self._make(site, place, shaped_by)
            base = disk_base.read_base(place)
        if base is None:
            raise LabError(f"{place} could not be read back after it was written")
        return base

    def remove(self, site: Site, product: disk_base.DiskBase) -> None:
        """The cache is kept: it is what the next trial is quick for."""

    def _shaped_by(self) -> dict[str, object]:
        store = ImageStore()
        root = chosen_root(store).manifest
        kernel = chosen_kernel(store, self.host.kernel, root.suite).manifest
        return {
            "format": disk_base.FORMAT,
            "storage": as_built(self.storage).model_dump(mode="json"),
            "dataset": self.dataset.fingerprint(),
            "root": root.sha256,
            "kernel": kernel.sha256,
            # New makers of xfs lay it out for the CPUs that they see.
            "cpus": self.host.cpus_on(usable_cpus()),
        }

    def _refuse_without_room(self, site: Site, dataset: FrozenDataset) -> None:
        """The base takes what is written to it, and overlays of it may become as large as its disks."""
        volumes = self.storage.volumes
        base = sum(taken_bytes(volume, dataset.size_bytes) for volume in volumes.values())
        overlays = sum(volume.disks.count * volume.disks.size for volume in volumes.values())
        free = read_facts(site.lab).free_disk_bytes
        if free is not None and base + overlays > free:
            raise StorageError(
                f"the disks' base takes {format_bytes(base)} and a trial's overlays of it can grow to "
                f"{format_bytes(overlays)}; {format_bytes(free)} are free on the file system "
                f"of the lab {site.lab}",
                "make the disks smaller, or choose another place with --lab",
            )

    def _make(self, site: Site, place: Path, shaped_by: dict[str, object]) -> None:
        started = time.monotonic()
        with site.staged(place) as staging:
            directory = self._build(site, place.name, staging)
            with writing(staging):
                for file in staging.iterdir():
                    file.chmod(0o444)
            manifest = disk_base.BaseManifest(
                format=disk_base.FORMAT,
                shaped_by=shaped_by,
                dataset=self.dataset.fingerprint(),
                data=directory.data,
                scratch=directory.scratch,
                places=directory.places,
                settings=directory.settings,
                size_bytes=size_of_tree(staging),
                seconds=round(time.monotonic() - started, 3),
            )
            manifest.write(staging)

    def _build(self, site: Site, name: str, folder: Path) -> DataDirectory:
        """Builds on disks in `folder`, and removes all but what is on them."""
        storage = as_built(self.storage)
        ground = VmGroundLayer(self.host, storage, self.folder, name, keep_in=folder)
        with Stack(site) as stack:
            bottom: list[Layer] = [self.dataset, ground]
            built = [*bottom, *building_layers(storage), DataDirectoryLayer(trial=name)]
            directory = stack.move_to(built).of(DataDirectory)
            # A guest that is lost while its disks are removed is an error here, and gives no base.
            stack.move_to(bottom).of(VmGround).host.run(["sync"])
        return directory
