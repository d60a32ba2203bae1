"""What environments share: a host reached through an agent, and the files that virtual disks are.

They are sparse, private, and refused where they could not all become full. On this machine and on others they
are loop devices.
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from mydyno.core.errors import HostError, StorageError
from mydyno.core.units import format_bytes
from mydyno.core.writing import writing
from mydyno.lab.spec import Host, Storage
from mydyno.lab.spec.disks import Disks
from mydyno.lab.stack.ground import KERNEL_LOG_LINES, Disk, DiskLimits, Ground
from mydyno.lab.stack.ground.block_limits import BlockLimits
from mydyno.lab.stack.site import PrivateFolder, Site
from mydyno.machine.agent import AgentHost
from mydyno.machine.environment import read_facts
from mydyno.machine.hosts.machines import Machines
from mydyno.machine.uml.host import UmlHost
from mydyno.machine.vm.host import VmHost

_HOLDER_SECONDS = 5.0


@dataclass(frozen=True)
class GroundLayer:
    """The environment of one trial, with its disks. `folder` is the trial's, in the lab, and must exist when
    it is built: a guest keeps its console.log there."""

    host: Host
    storage: Storage | None
    folder: Path = field(compare=False)
    trial: str
    shown: tuple[Path, ...] = ()
    """Folders of this machine that a guest is given, read-only, at the same places."""
    machines: Machines = field(default_factory=Machines, compare=False)
    """The run's other machines."""
    name: str = field(default="ground", init=False)

    @property
    def volumes(self) -> dict[str, Disks]:
        """The disks that an experiment configures, by volume."""
        return {name: volume.disks for name, volume in self.storage.volumes.items()} if self.storage else {}

    def remove(self, site: Site, product: Ground) -> None:
        product.close()


def private_folder(site: Site, removal: ExitStack) -> PrivateFolder:
    """A folder in the lab for the files of the disks."""
    parent = site.lab / "run"
    with writing(parent):
        parent.mkdir(mode=0o755, exist_ok=True)
    folder = site.folder_in(parent)
    removal.callback(site.remove, folder)
    return folder


@dataclass(eq=False)
class GuestGround(Ground):
    """A guest that runs."""

    host: UmlHost | VmHost

    def kernel_log(self) -> str:
        """Of a guest that does not answer any more, what its console has."""
        try:
            lines = self.host.run(["dmesg"]).stdout.splitlines()
        except HostError:
            lines = self.host.console.read_text(errors="replace").splitlines()
        return "\n".join(lines[-KERNEL_LOG_LINES:])


@dataclass(eq=False)
class LimitedGround(Ground):
    """Disks of a kernel that limits them by their device numbers."""

    _numbers: Mapping[Disk, str] = field(repr=False)
    _limits: BlockLimits = field(repr=False)

    def throttle(self, limits: Mapping[Disk, DiskLimits]) -> None:
        self._limits.set({self._numbers[disk]: wanted for disk, wanted in limits.items()})


def refuse_without_room(lab: Path, volumes: Mapping[str, Disks]) -> None:
    """A file system whose disk runs full while it is measured is damaged, not slow. Raises StorageError."""
    refuse_too_large(
        volumes,
        read_facts(lab).free_disk_bytes,
        f"the file system of the lab {lab}",
        "make the disks smaller, or choose another place with --lab",
    )


def refuse_too_large(volumes: Mapping[str, Disks], free: int | None, where: str, hint: str) -> None:
    """The same where so many bytes are free. Raises StorageError."""
    most = sum(disks.count * disks.size for disks in volumes.values() if not disks.devices)
    if free is not None and most > free:
        raise StorageError(
            f"the disks can grow to {format_bytes(most)}, and {format_bytes(free)} are free on {where}", hint
        )


def disk_file(folder: Path, volume: str, index: int) -> Path:
    """Where in `folder` the file of a disk is."""
    return folder / f"{volume}-{index}.img"


def make_disk_files(folder: Path, volumes: Mapping[str, Disks]) -> dict[Path, tuple[str, int, int]]:
    """Sparse files in `folder`: each with its volume, its position in it and its size. Raises LabError."""
    files = disk_files(folder, volumes)
    for path, (_, _, size) in files.items():
        with writing(path), path.open("xb") as file:
            # By its descriptor: the folder is the server's user's, who could put a link in its place.
            os.fchmod(file.fileno(), 0o600)
            file.truncate(size)
    return files


def disk_files(folder: Path, volumes: Mapping[str, Disks]) -> dict[Path, tuple[str, int, int]]:
    """Where in `folder` the files of disks are: each with its volume, its position in it and its size."""
    return {
        disk_file(folder, volume, index): (volume, index, disks.size)
        for volume, disks in volumes.items()
        for index in range(0 if disks.devices else disks.count)
    }


def attach(
    host: AgentHost, files: Mapping[Path, tuple[str, int, int]], removal: ExitStack
) -> dict[Disk, str]:
    """A loop device for each file, and its number; the process that holds them open goes with the agent."""
    if not files:
        return {}
    holder = host.open([str(host.program("mydyno-agent")), "loops", *map(str, files)])
    removal.callback(holder.close)
    numbers = {}
    for file, (volume, index, size) in files.items():
        line = holder.stdout.readline()
        if not line:
            holder.wait(_HOLDER_SECONDS)
            raise StorageError(
                f"no loop device could be attached to {file}: {holder.errors().strip()}",
                "does the machine have loop devices (`losetup --find`)? `host: uml` needs none",
            )
        attached = json.loads(line)
        if not attached["direct"]:
            raise StorageError(
                f"the file system of {file.parent} has no direct I/O: its disks would be memory",
                "choose one on ext4, xfs or btrfs: --lab here, `folder` in hosts.yaml on another machine",
            )
        numbers[Disk(volume, index, Path(attached["device"]), size)] = attached["number"]
    return numbers


def by_volume(disks: Iterable[Disk]) -> dict[str, tuple[Disk, ...]]:
    volumes: dict[str, tuple[Disk, ...]] = {}
    for disk in disks:
        volumes[disk.volume] = (*volumes.get(disk.volume, ()), disk)
    return volumes
