"""host: ssh:NAME: another machine of hosts.yaml as the environment: as it is, or with disks.

The host is the run's: it is connected once, and again where it was lost. All that is made on it is in its
session's folder, which goes with the session. Disks are loop devices over files there, or real ones. Mounts
are in the mount namespace of the session's agent, and the process that holds the loop devices is a child of
it: both go with the agent, however it ends. Arrays and settings of the kernel are undone by the agent, or
after its death by the next one (crates/agent, storage.rs).
"""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from mydyno.core.errors import MissingToolError, StorageError
from mydyno.core.plurals import counted
from mydyno.core.units import format_bytes
from mydyno.lab.spec.disks import Disks
from mydyno.lab.stack.ground import Disk, DiskLimits, Ground
from mydyno.lab.stack.ground.agent_ground import (
    GroundLayer,
    LimitedGround,
    attach,
    by_volume,
    disk_files,
    refuse_too_large,
)
from mydyno.lab.stack.ground.block_limits import BlockLimits
from mydyno.lab.stack.ground.real_disks import described, effects, examine, hold_blank
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.site import DEVICES, RESTORE, Site, keep_there
from mydyno.machine.block_devices import STABLE_FOLDERS
from mydyno.machine.hosts.host import RemoteHost

# Pairs of a file and its size in bytes.
_MAKE = 'umask 077; while [ $# -gt 0 ]; do truncate -s "$2" -- "$1"; shift 2; done'


@dataclass(eq=False)
class SshGround(Ground):
    """Another machine as it is."""

    kind = "ssh"
    disk_model = "the file system of that machine, as it is"

    def throttle(self, limits: Mapping[Disk, DiskLimits]) -> None:
        raise StorageError("the file system of another machine is not limited")


@dataclass(eq=False)
class SshDisksGround(LimitedGround):
    """Another machine with disks."""

    kind = "ssh"
    disk_model = (
        "loop devices with direct I/O over sparse files of that machine, or its real disks; its blkio "
        "controller limits reads and writes each on their own"
    )


@dataclass(frozen=True)
class SshGroundLayer(GroundLayer):
    """The machine for one trial. `stable_folders` hold the names that real disks may have."""

    stable_folders: tuple[Path, ...] = field(default=STABLE_FOLDERS, compare=False)
    cost_seconds: float = 0.2

    def fingerprint(self) -> str:
        return fingerprint_of({"host": f"ssh:{self.host.name}", "trial": self.trial})

    def side_effects(self) -> tuple[str, ...]:
        return (
            f"uses a private folder on {self.host.name}, which goes with the run",
            *(
                sentence
                for volume, disks in self.volumes.items()
                for sentence in _effects(volume, disks, self.host.name or "")
            ),
        )

    def build(self, site: Site, below: BuiltLayers) -> Ground:
        """Raises HostError, UsageError for a machine that is not in hosts.yaml; StorageError and
        MissingToolError for disks that are not available."""
        assert self.host.name is not None, "the spec requires it"
        host = self.machines.host(self.host.name)
        facts = {"host": self.host.name, "folder": str(host.folder)}
        if not self.volumes:
            return SshGround(host, {}, facts, ExitStack())
        _refuse(host, self.volumes)
        with ExitStack() as removal:
            work = host.trial_folder
            # All that it would restore is restored when the layers above have been removed.
            removal.callback(host.remove_tree, work / RESTORE)
            real = examine(host, self.volumes, self.stable_folders)
            if real:
                # It stays to the session's end: an array that could not be stopped is stopped then.
                keep_there(host, work / DEVICES, (each.device.number for each in real))
                hold_blank(host, real, self.stable_folders, removal)
            folder = work / "disks"
            removal.callback(host.remove_tree, folder)
            host.make_folder(folder)
            virtual = attach(host, _make_files(host, folder, self.volumes), removal)
            limits = BlockLimits(replace(site, host=host), work / "blkio")
            removal.callback(limits.lift_all)
            numbers = {each.disk: each.device.number for each in real} | virtual
            facts |= described(real)
            return SshDisksGround(host, by_volume(numbers), facts, removal.pop_all(), numbers, limits)


def _refuse(host: RemoteHost, volumes: Mapping[str, Disks]) -> None:
    """What a plan refuses too, which may have been made of other facts."""
    if not host.is_root:
        raise MissingToolError(
            f"storage on {host.name} needs root there: it attaches loop devices and mounts file systems",
            "a destination in hosts.yaml that is root's, as root@db1.example",
        )
    if not host.has_private_mounts:
        raise StorageError(
            f"{host.name} does not permit a mount namespace (unshare --mount)",
            "use a machine or a container with the capability CAP_SYS_ADMIN",
        )
    refuse_too_large(
        volumes,
        host.facts(host.folder).free_disk_bytes,
        f"the file system of {host.folder} on {host.name}",
        "make the disks smaller, or set `folder` in hosts.yaml to another place",
    )


def _make_files(
    host: RemoteHost, folder: Path, volumes: Mapping[str, Disks]
) -> dict[Path, tuple[str, int, int]]:
    """Sparse files: each with its volume, its position in it and its size. Raises StorageError."""
    files = disk_files(folder, volumes)
    words = [word for path, (_, _, size) in files.items() for word in (str(path), str(size))]
    done = host.run(["sh", "-ec", _MAKE, "sh", *words])
    if done.returncode != 0:
        raise StorageError(f"{host.name}: no disks could be made in {folder}: {done.stderr.strip()}")
    return files


def _effects(volume: str, disks: Disks, host: str) -> tuple[str, ...]:
    if disks.devices:
        return tuple(effects(volume, disks, f" of {host}"))
    throttled = "; limits them in the root group of blkio" if disks.iops or disks.bandwidth else ""
    return (
        f"attaches {counted(disks.count, 'loop device')} of {format_bytes(disks.size)} there for {volume}, "
        f"over files that take what is written to them{throttled}",
    )
