"""The QEMU environment: a guest for every trial, with disks limited by QEMU as clouds limit theirs."""

import os
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import HostError, StorageError
from mydyno.lab.spec.disks import Disks
from mydyno.lab.spec.host import GUEST_MEMORY_BYTES
from mydyno.lab.stack.disk_base import DiskBase
from mydyno.lab.stack.ground import Contents, Disk, DiskLimits, agent_ground
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.undo import EndProcesses
from mydyno.machine.environment import usable_cpus
from mydyno.machine.images import ImageStore
from mydyno.machine.programs import find_program
from mydyno.machine.vm.acceleration import ACCELERATION, acceleration
from mydyno.machine.vm.chosen import chosen_kernel, chosen_root
from mydyno.machine.vm.host import VmHost
from mydyno.machine.vm.initrd import entries, guest_config, make_initrd
from mydyno.machine.vm.machine import DiskImage, Machine, SharedFolder
from mydyno.machine.vm.overlay import make_overlay

_PROGRAMS = ("mydyno-agent", "mydyno-engine")


@dataclass(eq=False)
class VmGround(agent_ground.GuestGround):
    """A QEMU guest, whose disks are limited outside it."""

    contents: Contents = "blank"
    kind = "vm"
    budget = "joint"
    disk_model = "files as virtio disks; QEMU limits reads and writes together, as cloud disks are limited"

    def throttle(self, limits: Mapping[Disk, DiskLimits]) -> None:
        assert isinstance(self.host, VmHost)
        try:
            for disk, limit in limits.items():
                self.host.control.throttle(serial_of(disk), limit.iops, limit.bytes_per_second)
        except HostError as error:
            raise StorageError(f"the limits of a disk could not be set: {error.message}") from error


@dataclass(frozen=True)
class VmGroundLayer(agent_ground.GroundLayer):
    """Boots a guest for one trial.

    Its disks are overlays of the base below, where there is one; else blank. `keep_in` is a folder that gets
    blank disks' files for good.
    """

    keep_in: Path | None = None
    cost_seconds: float = 12.0

    def fingerprint(self) -> str:
        return fingerprint_of(
            {
                "host": self.host.model_dump(mode="json"),
                "disks": {name: disks.model_dump(mode="json") for name, disks in self.volumes.items()},
                "trial": self.trial,
            }
        )

    def side_effects(self) -> tuple[str, ...]:
        number = sum(disks.count for disks in self.volumes.values())
        return (
            "boots a QEMU guest without network; it dies with mydyno",
            f"keeps {number} disk files of the guest in a private folder mydyno-* of the lab while it runs",
        )

    def build(self, site: Site, below: BuiltLayers) -> VmGround:
        """Raises MissingToolError without image or QEMU, StorageError for no room, HostError."""
        agent_ground.refuse_without_room(site.lab, self.volumes)
        store = ImageStore()
        root = chosen_root(store)
        kernel = chosen_kernel(store, self.host.kernel, root.manifest.suite)
        base = next(iter(below.all(DiskBase)), None)
        with_what = acceleration(kernel.file, store.folder / ACCELERATION)
        shared = (
            SharedFolder("lab", site.lab, "passthrough" if os.geteuid() == 0 else "mapped-xattr"),
            *(SharedFolder(f"shown{number}", path, "read-only") for number, path in enumerate(self.shown)),
        )
        modules = kernel.modules()
        programs = [find_program(name) for name in _PROGRAMS]
        initrd = make_initrd(store, entries(modules, programs, guest_config(modules, shared)))
        with ExitStack() as removal:
            folder = site.roomy_folder()
            removal.callback(site.remove, folder)
            images = self._images(base, folder.path)
            removal.callback(site.undo, site.intend(EndProcesses(argument=folder.path.name)))
            machine = Machine(
                name=folder.path.name,
                kernel=kernel.file,
                initrd=initrd,
                root=root.file,
                accelerator=with_what.accelerator,
                memory_bytes=self.host.memory or GUEST_MEMORY_BYTES,
                cpus=self.host.cpus_on(usable_cpus()),
                disks=images,
                folders=shared,
            )
            host = VmHost(machine, self.folder / "console.log")
            removal.callback(host.close)
            disks = _disks_in(host, self.volumes)
            described = {
                "accelerator": with_what.accelerator,
                "root": f"{root.manifest.suite} {root.manifest.sha256[:12]}",
                "kernel package": f"{kernel.manifest.package} {kernel.manifest.package_version}",
            }
            if base is not None:
                described["disks"] = f"overlays of the base {base.name}"
            return VmGround(host, disks, described, removal.pop_all(), self._contents(base))

    def _contents(self, base: DiskBase | None) -> Contents:
        if base is not None:
            return "restored"
        return "blank" if self.keep_in is None else "kept"

    def _images(self, base: DiskBase | None, folder: Path) -> tuple[DiskImage, ...]:
        """The files of the disks, made in `folder` or where they are kept."""
        if base is None:
            made = agent_ground.make_disk_files(self.keep_in or folder, self.volumes)
            return tuple(DiskImage(f"{volume}{index}", file) for file, (volume, index, _) in made.items())
        images = []
        for volume, disks in self.volumes.items():
            for index in range(disks.count):
                overlay = agent_ground.disk_file(folder, volume, index).with_suffix(".qcow2")
                make_overlay(agent_ground.disk_file(base.folder, volume, index), overlay)
                images.append(DiskImage(f"{volume}{index}", overlay, "qcow2"))
        return tuple(images)


def serial_of(disk: Disk) -> str:
    """What the disk is called inside the guest and by QEMU: data0."""
    return f"{disk.volume}{disk.index}"


def _disks_in(host: VmHost, volumes: Mapping[str, Disks]) -> dict[str, tuple[Disk, ...]]:
    """Each disk by the serial number that the guest's kernel read from it, whatever its name there is."""
    listed = host.run(["sh", "-c", "cd /sys/block && grep -H '' */serial"]).stdout
    names = {serial: name for name, serial in re.findall(r"^(\w+)/serial:(\w+)$", listed, re.MULTILINE)}
    planned = [f"{volume}{index}" for volume, disks in volumes.items() for index in range(disks.count)]
    missing = [serial for serial in planned if serial not in names]
    if missing:
        raise HostError(f"the guest does not see its disks {', '.join(missing)}; it has {sorted(names)}")
    return {
        volume: tuple(
            Disk(volume, index, Path("/dev") / names[f"{volume}{index}"], disks.size)
            for index in range(disks.count)
        )
        for volume, disks in volumes.items()
    }
