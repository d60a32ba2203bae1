"""host: local: this machine as the environment: loop devices over files of the lab, or real block devices.

Mounts and processes are in private namespaces. The loop devices are attached and held open by a process
in them, marked to go with their last user. So a SIGKILL of mydyno takes processes, mounts and loop
devices away at once; files, limits and changed queues are in the journal.
"""

import os
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from mydyno.core.errors import MissingToolError, StorageError
from mydyno.core.plurals import counted
from mydyno.core.units import format_bytes
from mydyno.lab.spec.disks import Disks
from mydyno.lab.stack.ground.agent_ground import (
    GroundLayer,
    LimitedGround,
    attach,
    by_volume,
    make_disk_files,
    private_folder,
    refuse_without_room,
)
from mydyno.lab.stack.ground.block_limits import BlockLimits
from mydyno.lab.stack.ground.real_disks import described, effects, examine, hold_blank
from mydyno.lab.stack.layer import BuiltLayers, fingerprint_of
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.undo import DetachLoops, EndProcesses, RemoveMountRoot
from mydyno.lab.stack.undo.mounts import MOUNT_ROOT, HeldMountRoot
from mydyno.machine.agent import AgentHost
from mydyno.machine.block_devices import STABLE_FOLDERS
from mydyno.machine.local import LocalHost
from mydyno.machine.supervised import NamespaceHost, mark


@dataclass(eq=False)
class LocalGround(LimitedGround):
    """This machine with disks."""

    kind = "local"
    disk_model = (
        "loop devices with direct I/O over sparse files, or real disks; the blkio controller of this machine "
        "limits reads and writes each on their own"
    )


@dataclass(frozen=True)
class LocalGroundLayer(GroundLayer):
    """Fresh disks for one trial, in private namespaces of this machine. Needs root.

    `stable_folders` hold the names that real disks may have.
    """

    stable_folders: tuple[Path, ...] = field(default=STABLE_FOLDERS, compare=False)
    cost_seconds: float = 0.2

    def fingerprint(self) -> str:
        return fingerprint_of({"host": "local", "trial": self.trial})

    def side_effects(self) -> tuple[str, ...]:
        return (
            "mounts in private namespaces only, below /run/mydyno; all of it goes with mydyno",
            *(sentence for volume, disks in self.volumes.items() for sentence in _effects(volume, disks)),
        )

    def build(self, site: Site, below: BuiltLayers) -> LocalGround:
        self._check(site)
        with ExitStack() as removal:
            _hold_mount_root(site, removal)
            # By the machine's own mounts: the private ones keep what is unmounted meanwhile.
            real = examine(LocalHost(), self.volumes, self.stable_folders)
            hold_blank(LocalHost(), real, self.stable_folders, removal)
            folder = _private_folder(site, removal)
            host = _private_host(site, folder, removal)
            virtual = attach(host, make_disk_files(folder, self.volumes), removal)
            limits = BlockLimits(replace(site, host=host), MOUNT_ROOT / "blkio")
            removal.callback(limits.lift_all)
            numbers = {each.disk: each.device.number for each in real} | virtual
            return LocalGround(host, by_volume(numbers), described(real), removal.pop_all(), numbers, limits)

    def _check(self, site: Site) -> None:
        if os.geteuid() != 0:
            raise MissingToolError(
                "storage on `host: local` needs root: it attaches loop devices and mounts file systems",
                "run mydyno as root, or use `host: uml`: the same disks, arrays and file systems in a "
                "guest, without root",
            )
        volumes = self.storage.volumes if self.storage else {}
        arrays = [name for name, volume in volumes.items() if volume.raid != "none"]
        if arrays and not _kernel_has_md():
            raise StorageError(
                f"the volume {arrays[0]} is an md array, and this machine's kernel has no md",
                "use `host: uml` or `host: vm`, whose kernels have it",
            )
        refuse_without_room(site.lab, self.volumes)


def _hold_mount_root(site: Site, removal: ExitStack) -> None:
    undo = site.intend(RemoveMountRoot())
    removal.callback(site.undo, undo)
    removal.callback(HeldMountRoot().let_go)


def _private_folder(site: Site, removal: ExitStack) -> Path:
    """A folder in the lab for the disks' files, from which loop devices may hang."""
    folder = private_folder(site, removal)
    removal.callback(site.undo, site.intend(DetachLoops(folder=folder.path)))
    return folder.path


def _private_host(site: Site, folder: Path, removal: ExitStack) -> AgentHost:
    removal.callback(site.undo, site.intend(EndProcesses(argument=mark(folder))))
    host = NamespaceHost(folder)
    removal.callback(host.close)
    # Folders for mounts are made in here, so none is left on the machine's own /run.
    argv = ["mount", "-t", "tmpfs", "-o", "mode=0755,size=1M", "mydyno", str(MOUNT_ROOT)]
    done = host.run(argv)
    if done.returncode != 0:
        raise StorageError(f"nothing can be mounted on {MOUNT_ROOT}: {done.stderr.strip()}")
    return host


def _effects(volume: str, disks: Disks) -> tuple[str, ...]:
    if disks.devices:
        return tuple(effects(volume, disks))
    throttled = "; limits them in the root group of blkio" if disks.iops or disks.bandwidth else ""
    return (
        f"attaches {counted(disks.count, 'loop device')} of {format_bytes(disks.size)} "
        f"for {volume}, over files in the lab that take what is written to them{throttled}",
    )


def _kernel_has_md() -> bool:
    return (
        Path("/proc/mdstat").exists() or LocalHost().run(["modprobe", "-n", "-q", "md_mod"]).returncode == 0
    )
