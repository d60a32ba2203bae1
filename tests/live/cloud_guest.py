"""A cloud machine in QEMU: Debian with cloud-init, a disk for the system, and the experiment's disks, blank.

The disks are SCSI disks with the identity that those of Google Cloud have, so that the user data of
`mydyno cloud export --provider gcp` runs as it is. They are attached in another order than the experiment's,
so that their names in /dev do not tell which is which. User data comes by NoCloud, on a disk of its own.
What the images of clouds have and cloud-init would fetch, the server's binary among it, is installed
already: the guest reaches no package sources.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from live.debian_guest import MASKED, install_tree, make_disk, refuse_missing
from mydyno.machine.images import ImageStore
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Process
from mydyno.machine.vm.acceleration import ACCELERATION, acceleration
from mydyno.machine.vm.machine import Accelerator, base, escaped, kernel_line

_INSTALLED = (
    *("systemd-sysv", "udev", "cloud-init", "openssh-server", "sudo", "procps", "initramfs-tools", "busybox"),
    # The kernel of Debian's images for clouds.
    *("linux-image-cloud-amd64", "mariadb-server-core", "mdadm", "xfsprogs", "e2fsprogs", "fio"),
)
# DSA and RSA keys take minutes under TCG; ds-identify need not look for other clouds; and the image has no
# other locales.
_IMAGE_SETTINGS = "ssh_genkeytypes: [ed25519]\ndatasource_list: [NoCloud]\nlocale: C.UTF-8\n"
_META_DATA = "instance-id: mydyno-test\nlocal-hostname: cloud\n"
_BOOT_SECONDS = 1500.0


@dataclass(frozen=True)
class CloudImage:
    folder: Path
    accelerator: Accelerator

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"

    @property
    def system(self) -> Path:
        return self.folder / "system.raw"


def build_cloud_image(target: Path, suite: str, progress: Callable[[str], None]) -> CloudImage:
    """About three minutes. Raises MissingToolError, HostError."""
    refuse_missing()
    tree = install_tree(target, suite, _INSTALLED, progress)
    image = CloudImage(target, acceleration_of(tree))
    for name, place in (("vmlinuz", image.kernel), ("initrd.img", image.initrd)):
        (found,) = (tree / "boot").glob(f"{name}-*")
        shutil.move(found, place)
    (tree / "etc/fstab").write_text("LABEL=system / ext4 errors=remount-ro 0 1\n")
    (tree / "etc/machine-id").write_text("")
    (tree / "etc/cloud/cloud.cfg.d/90-test.cfg").write_text(_IMAGE_SETTINGS)
    units = tree / "etc/systemd/system"
    for name in MASKED:
        (units / name).unlink(missing_ok=True)
        (units / name).symlink_to("/dev/null")
    wants = units / "multi-user.target.wants"
    (wants / "systemd-networkd.service").symlink_to("/lib/systemd/system/systemd-networkd.service")
    make_disk(image.system, "system", tree, "4G", progress)
    shutil.rmtree(tree)
    return image


def acceleration_of(tree: Path) -> Accelerator:
    (kernel,) = (tree / "boot").glob("vmlinuz-*")
    return acceleration(kernel, ImageStore().folder / ACCELERATION).accelerator


class CloudGuest:
    """Off when made. Its disks stay until `folder` goes."""

    def __init__(self, image: CloudImage, folder: Path, user_data: str, disks: Sequence[str]) -> None:
        """`disks`: their names, as they are attached; each is blank and of 1 GiB."""
        self._image, self.folder, self._disks = image, folder, tuple(disks)
        self._process: Process | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        seed = folder / "seed"
        seed.mkdir()
        (seed / "user-data").write_text(user_data)
        (seed / "meta-data").write_text(_META_DATA)
        for name in self._disks:
            (folder / f"{name}.raw").touch()
            os.truncate(folder / f"{name}.raw", 1 << 30)

    @property
    def console(self) -> str:
        return (self.folder / "console.log").read_text(errors="replace")

    def switch_on(self) -> None:
        """Starts, and waits until sshd shows its key, which goes into the folder's `known`."""
        (self.folder / "console.log").touch()
        self._process = LocalHost().start(self._argv(), output=self.folder / "qemu.log")
        deadline = time.monotonic() + _BOOT_SECONDS
        while time.monotonic() < deadline:
            if self._process.returncode() is not None:
                raise AssertionError((self.folder / "qemu.log").read_text() + self.console[-3000:])
            argv = ["ssh-keyscan", "-T", "20", "-t", "ed25519", "-p", str(self.port), "127.0.0.1"]
            keys = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
            if keys:
                (self.folder / "known").write_text(keys)
                return
            time.sleep(1)
        raise AssertionError(f"no sshd after {_BOOT_SECONDS:g} s: {self.console[-3000:]}")

    def switch_off(self) -> None:
        """As by pulling the plug."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10.0)
        self._process = None

    def wait_until_off(self, seconds: float) -> None:
        assert self._process is not None
        assert self._process.wait(seconds) is not None, self.console[-3000:]
        self._process = None

    def _argv(self) -> list[str]:
        image, folder = self._image, self.folder
        argv = [
            *("qemu-system-x86_64", *base(image.accelerator), "-smp", "2", "-m", "1024M"),
            *("-kernel", str(image.kernel), "-initrd", str(image.initrd)),
            *("-append", kernel_line("root=LABEL=system rw systemd.show_status=no")),
            *("-chardev", f"file,id=console,path={escaped(folder / 'console.log')},append=on"),
            *("-serial", "chardev:console"),
            *("-netdev", f"user,id=net,hostfwd=tcp:127.0.0.1:{self.port}-:22"),
            *("-device", "virtio-net-pci,netdev=net"),
            *("-drive", f"file={escaped(image.system)},format=raw,if=virtio,cache=writeback"),
            *("-drive", f"driver=vvfat,dir={escaped(folder / 'seed')},label=cidata,if=virtio,read-only=on"),
            *("-device", "virtio-scsi-pci,id=scsi"),
        ]
        for name in self._disks:
            file = escaped(folder / f"{name}.raw")
            argv += ["-drive", f"file={file},format=raw,if=none,id={name},cache=writeback"]
            identity = f"vendor=Google,product=PersistentDisk,device_id={name},serial={name}"
            argv += ["-device", f"scsi-hd,bus=scsi.0,drive={name},{identity}"]
        return argv
