"""host: uml: a User-Mode Linux guest with fresh disks for every trial. Needs no root.

The guest's root is this machine's own, read-only, so its programs are there. The disks are sparse files
in a private folder of the lab; limits are set inside the guest, where they go with it.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from mydyno.core.errors import StorageError
from mydyno.core.grounds import GROUNDS
from mydyno.core.plurals import counted
from mydyno.core.units import format_bytes
from mydyno.lab.spec.disks import Disks
from mydyno.lab.spec.host import GUEST_MEMORY_BYTES
from mydyno.lab.stack.ground import Disk, DiskLimits, agent_ground
from mydyno.lab.stack.ground.block_limits import BlockLimits
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.undo import EndProcesses
from mydyno.lab.stack.undo.mounts import MOUNT_ROOT
from mydyno.machine.programs import find_program
from mydyno.machine.uml.host import UmlHost
from mydyno.machine.uml.kernels import UmlKernel, UmlKernels, chosen_kernel
from mydyno.machine.uml.machine import Share, UmlMachine, disk_name, hidden_folders

_PROGRAMS = ("mydyno-agent", "mydyno-engine")

_MOST_REQUESTS = 256
"""Under way in a guest, all its disks together. They go to one helper process through one socket, which has
room for about 277. A disk without a request under way that finds it full is not served again
(arch/um/drivers/ubd_kern.c gives BLK_STS_DEV_RESOURCE, which means a resource of the device's own)."""


@dataclass(eq=False)
class UmlGround(agent_ground.GuestGround):
    """A User-Mode Linux guest, whose disks are limited inside it."""

    _limits: BlockLimits = field(repr=False)
    kind = "uml"
    disk_model = (
        "files as block devices of User-Mode Linux; the guest's blkio controller limits reads and writes "
        "each on their own, and counts requests before they are merged"
    )

    @property
    def longest_queue(self) -> int | None:
        return max(1, _MOST_REQUESTS // max(1, sum(map(len, self.disks.values()))))

    def throttle(self, limits: Mapping[Disk, DiskLimits]) -> None:
        self._limits.set({self._number(disk): wanted for disk, wanted in limits.items()})

    def _number(self, disk: Disk) -> str:
        number = self.host.read_text(Path("/sys/block") / disk.path.name / "dev")
        if number is None:
            raise StorageError(f"the guest has no disk {disk.path}")
        return number.strip()


@dataclass(frozen=True)
class UmlGroundLayer(agent_ground.GroundLayer):
    """Boots a guest for one trial."""

    cost_seconds: float = 2.0

    def fingerprint(self) -> str:
        return fingerprint_of({"host": "uml", "trial": self.trial})

    def side_effects(self) -> tuple[str, ...]:
        return (
            "boots a User-Mode Linux guest without network, on this machine's root file system, read-only; "
            "it dies with mydyno",
            *(_effect(volume, disks) for volume, disks in self.volumes.items()),
        )

    def build(self, site: Site, below: BuiltLayers) -> UmlGround:
        """Raises StorageError for disks that are not available, MissingToolError, UsageError, HostError."""
        _check(self.volumes)
        kernel = chosen_kernel(UmlKernels(), self.host.kernel, lambda what: None)
        with ExitStack() as removal:
            agent_ground.refuse_without_room(site.lab, self.volumes)
            folder = agent_ground.private_folder(site, removal)
            files = agent_ground.make_disk_files(folder.path, self.volumes)
            machine = self._machine(site, kernel, folder.path, tuple(file.name for file in files))
            removal.callback(site.undo, site.intend(EndProcesses(argument=machine.mark)))
            host = UmlHost(machine, self.folder / "console.log")
            removal.callback(host.close)
            host.make_folder(MOUNT_ROOT, mode=0o755)
            limits = BlockLimits(replace(site, host=host), MOUNT_ROOT / "blkio")
            # In the guest they have the order in which they were given to it.
            disks = [
                Disk(volume, index, Path("/dev") / disk_name(place), size)
                for place, (volume, index, size) in enumerate(files.values())
            ]
            by_volume = {
                volume: tuple(disk for disk in disks if disk.volume == volume) for volume in self.volumes
            }
            package = {"kernel package": f"user-mode-linux {kernel.manifest.package}"}
            return UmlGround(host, by_volume, package, removal.pop_all(), limits)

    def _machine(self, site: Site, kernel: UmlKernel, folder: Path, disks: tuple[str, ...]) -> UmlMachine:
        programs = [find_program(name).absolute().parent for name in _PROGRAMS]
        return UmlMachine(
            kernel=kernel,
            memory_bytes=self.host.memory or GUEST_MEMORY_BYTES,
            folder=folder,
            disks=disks,
            shares=(Share(site.lab, read_only=False), *hidden_folders([*programs, *self.shown])),
        )


def _check(volumes: Mapping[str, Disks]) -> None:
    if real := [name for name, disks in volumes.items() if disks.devices]:
        raise StorageError(
            f"the volume {real[0]} is on real disks, which a guest cannot use", "use `host: local` for them"
        )
    number = sum(disks.count for disks in volumes.values())
    if number > GROUNDS["uml"].most_disks:
        raise StorageError(
            f"{number} disks are more than User-Mode Linux supports: {GROUNDS['uml'].most_disks}",
            "use fewer, or `host: vm` or `host: local`",
        )


def _effect(volume: str, disks: Disks) -> str:
    number = counted(disks.count, "disk")
    return f"keeps {number} of {format_bytes(disks.size)} for {volume} as sparse files in the lab"
