"""The mount of a volume, with exactly the configured options; or the raw device for the server."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mydyno.core.errors import MountRefusedError, StorageError
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.layer import BuiltLayers
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.storage import mount_options
from mydyno.lab.stack.storage.built import FLUSHES, FileSystem, MountedVolume, VolumeLayer, of_volume
from mydyno.lab.stack.storage.tools import complaint, output_of, run_tool
from mydyno.lab.stack.undo import MOUNT_ROOT, Unmount

_COLUMNS = "SOURCE,FSTYPE,VFS-OPTIONS,FS-OPTIONS"
_RAW_NODE = "device"


@dataclass(frozen=True)
class MountLayer(VolumeLayer):
    """Mounts the volume below /run/mydyno and gives its folder to the server's user."""

    part: ClassVar[str] = "mount"
    shaping: ClassVar[tuple[str, ...]] = ("mount",)
    cost_seconds: ClassVar[float] = 0.3

    def path(self, site: Site) -> Path:
        """On another machine in the session's folder, with which it goes."""
        work = site.host.work_folder
        return (MOUNT_ROOT if work is None else work / "volumes") / self.volume

    def side_effects(self) -> tuple[str, ...]:
        return (f"mounts {self.volume} on {MOUNT_ROOT / self.volume}",)

    def build(self, site: Site, below: BuiltLayers) -> MountedVolume:
        filesystem = of_volume(below, FileSystem, self.volume)
        ground, path = below.of(Ground), self.path(site)  # type: ignore[type-abstract]
        output_of(site.host, ["mkdir", "-p", str(path)], f"making {path}")
        undo = site.intend(Unmount(path=path))
        mounted = False
        try:
            if filesystem.kind == "raw":
                self._mount_node_folder(site)
                mounted = True
                return self._raw(site, filesystem, undo)
            self._mount(site, ground, filesystem)
            mounted = True
            described = self._verified(site, filesystem)
            self._give_to_server(site, path)
            return MountedVolume(self.volume, described, path, filesystem.device, undo)
        except BaseException:
            if mounted:
                run_tool(site.host, ["umount", str(path)])
            site.undo(undo)
            raise

    def remove(self, site: Site, product: MountedVolume) -> None:
        path = self.path(site)
        output_of(site.host, ["umount", str(path)], f"unmounting {path}")
        site.undo(product.undo)

    def _mount(self, site: Site, ground: Ground, filesystem: FileSystem) -> None:
        options = ["-o", ",".join(self.wanted.mount)] if self.wanted.mount else []
        argv = ["mount", "-t", filesystem.kind, *options, str(filesystem.device), str(self.path(site))]
        done = run_tool(site.host, argv)
        if done.returncode == 0:
            return
        log = ground.kernel_log().strip().splitlines()
        with_options = f" with {','.join(self.wanted.mount)}" if self.wanted.mount else ""
        last = log[-1].strip() if log else ""
        message = f"{filesystem.kind} of {self.volume} could not be mounted{with_options}: {complaint(done)}"
        if last:
            message += f"\n  the kernel's last line: {last}"
        if not self.wanted.mount:
            raise StorageError(message)
        raise MountRefusedError(
            message,
            "kernels differ in the options they know: remove the refused one, or use another host.kernel",
            filesystem=filesystem.kind,
            refused=mount_options.named_options(f"{complaint(done)}\n{last}", self.wanted.mount),
        )

    def _verified(self, site: Site, filesystem: FileSystem) -> dict[str, str]:
        argv = ["findmnt", "--json", "--output", _COLUMNS, "--mountpoint", str(self.path(site))]
        mounted = mount_options.parse_findmnt(run_tool(site.host, argv).stdout)
        if mounted is None or mounted.filesystem != filesystem.kind:
            raise StorageError(
                f"{self.path(site)} shows {mounted.filesystem if mounted else 'no mount'} after "
                f"{filesystem.kind} was mounted"
            )
        elsewhere = site.host.read_text(Path(f"/proc/fs/ext4/{filesystem.device.name}/options")) or ""
        dropped = mount_options.not_in_force(self.wanted.mount, mounted, elsewhere.split())
        if dropped:
            raise MountRefusedError(
                f"the kernel accepted {','.join(dropped)} for {filesystem.kind} without "
                f"an error, but it is not in force: the mount shows {mounted.options}",
                "remove it: this kernel's file system ignores it",
                filesystem=filesystem.kind,
                refused=tuple(dropped),
            )
        return {
            "mount": _shown(mounted, elsewhere),
            FLUSHES: "yes" if mount_options.flushes(mounted) else "no",
            **self._profiles(site, filesystem),
        }

    def _profiles(self, site: Site, filesystem: FileSystem) -> dict[str, str]:
        """How btrfs spreads data and metadata, which it reports only of a mounted file system."""
        if filesystem.kind != "btrfs":
            return {}
        described = mount_options.parse_profiles(
            output_of(
                site.host,
                ["btrfs", "filesystem", "df", "-b", str(self.path(site))],
                "reading btrfs's profiles",
            )
        )
        wanted = {"data profile": self.wanted.data_profile, "metadata profile": self.wanted.metadata_profile}
        if differences := mount_options.profile_differences(wanted, described):
            raise StorageError("btrfs does not have the configured profiles: " + "; ".join(differences))
        return described

    def _mount_node_folder(self, site: Site) -> None:
        """A separate folder for the node: /run itself may forbid devices, and this one goes by itself."""
        argv = ["mount", "-t", "tmpfs", "-o", "mode=0711,size=64k", "mydyno", str(self.path(site))]
        output_of(site.host, argv, f"making a folder for the node of {self.volume}")

    def _raw(self, site: Site, filesystem: FileSystem, undo: int | None) -> MountedVolume:
        """A second node of the device, which the server's user may open; the first keeps its owner."""
        node = self.path(site) / _RAW_NODE
        number = output_of(
            site.host, ["stat", "-c", "%Hr %Lr", str(filesystem.device)], "reading its device number"
        )
        output_of(site.host, ["mknod", str(node), "b", *number.split()], f"making {node}")
        self._give_to_server(site, node)
        described = {"mount": f"none: {filesystem.device} as {node}"}
        return MountedVolume(self.volume, described, node, node, undo)

    def _give_to_server(self, site: Site, path: Path) -> None:
        identity = site.host.server_identity
        if identity is not None:
            owner = f"{identity.uid}:{identity.gid}"
            output_of(site.host, ["chown", owner, str(path)], f"giving {path} to {identity.name}")


def _shown(mounted: mount_options.Mounted, elsewhere: str) -> str:
    """The options in force, with those of durability where the file system shows its defaults too."""
    deciding = [
        each for each in elsewhere.split() if each.startswith(("data=", "commit=")) or "barrier" in each
    ]
    return ",".join(dict.fromkeys([*mounted.options.split(","), *deciding]))
