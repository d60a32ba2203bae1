"""A whole Debian in QEMU: systemd, udev, a MariaDB of its unit, disks that keep what is written.

Unlike the guests of `host: vm`, which are a root that nothing is written to and one program of ours, this
is a machine as an administrator has it, for tests of what mydyno does to such machines. It is built of the
machine's own package sources and boots mydyno's own kernel image by a small initrd of busybox. mydyno's
source and the packages that it imports are shown to the guest read-only, so the guest's Python must be of
the same minor version.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pydantic

import mydyno
from mydyno.core.errors import HostError, MissingToolError
from mydyno.machine.agent import AgentHost
from mydyno.machine.channel import Channel
from mydyno.machine.images import ImageStore, build_kernel
from mydyno.machine.images.build import DOCUMENTS, watch
from mydyno.machine.images.store import KernelImage
from mydyno.machine.images.suites import SUITES, reaching_settings, source_lines, sources_of
from mydyno.machine.local import LocalHost
from mydyno.machine.programs import find_program
from mydyno.machine.protocol import Finished, Process
from mydyno.machine.vm.acceleration import ACCELERATION, acceleration
from mydyno.machine.vm.initrd import archive, file, folder
from mydyno.machine.vm.machine import CHANNEL, Accelerator, base, escaped, kernel_line
from mydyno.machine.vm.overlay import make_overlay

SOURCE, PACKAGES = Path("/opt/mydyno/source"), Path("/opt/mydyno/packages")
"""Where the guest sees mydyno's source and what it imports."""

_INSTALLED = ("systemd-sysv", "udev", "mariadb-server", "python3", "procps", "e2fsprogs", "busybox-static")

# What such a guest has no use for, and what would take a third of its start.
MASKED = (
    *(
        "getty@.service",
        "serial-getty@.service",
        "systemd-update-utmp.service",
        "systemd-random-seed.service",
    ),
    *(
        "systemd-journal-flush.service",
        "systemd-pstore.service",
        "getty-static.service",
        "systemd-logind.service",
        "rpcbind.service",
    ),
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer"),
    *("e2scrub_reap.service", "fstrim.timer", "systemd-tmpfiles-clean.timer", "ldconfig.service"),
    *("dev-hugepages.mount", "dev-mqueue.mount", "proc-sys-fs-binfmt_misc.automount"),
    *("sys-kernel-debug.mount", "sys-kernel-tracing.mount", "systemd-update-done.service"),
)

_INIT = """\
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs devtmpfs /dev
while read -r module; do /bin/busybox insmod "/modules/$module"; done </order
until [ -b /dev/vda ]; do /bin/busybox sleep 0.1; done
/bin/busybox mount -t ext4 /dev/vda /root
exec /bin/busybox switch_root /root /sbin/init
"""

# A port has one opener, who reads and writes it. udev gives it its name when it comes to it.
_AGENT_UNIT = f"""\
[Unit]
After=systemd-udev-trigger.service mariadb.service

[Service]
ExecStart=/bin/sh -c 'exec /usr/local/sbin/mydyno-agent serve <>/dev/virtio-ports/{CHANNEL} >&0'
Restart=on-failure
RestartSec=1

[Install]
WantedBy=multi-user.target
"""

_SHARE = "ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose,nofail"
_FSTAB = f"""\
# <file system> <mount point> <type> <options> <dump> <pass>
LABEL=root\t/\text4\terrors=remount-ro\t0\t1
LABEL=data\t/var/lib/mysql\text4\tdefaults\t0\t2
source {SOURCE} 9p {_SHARE} 0 0
packages {PACKAGES} 9p {_SHARE} 0 0
"""

_BOOT_SECONDS = 600.0
_SHUT_DOWN_SECONDS = 300.0

_COMMAND_SECONDS = 900.0
"""Under TCG a command of mydyno's takes ten seconds to half a minute, on a busy machine many times that."""


@dataclass(frozen=True)
class GuestImage:
    """What guests boot: kernel, initrd, and the disks that theirs are overlays of."""

    folder: Path
    kernel: KernelImage
    accelerator: Accelerator

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"

    def disk(self, name: str) -> Path:
        return self.folder / f"{name}.raw"


def build_image(target: Path, suite: str, progress: Callable[[str], None]) -> GuestImage:
    """About two minutes. Raises MissingToolError for tools, root or a Python that do not fit, HostError."""
    refuse_missing()
    store = ImageStore()
    kernel = build_kernel(store, SUITES[suite], progress)
    tree = install_tree(target, suite, _INSTALLED, progress)
    _refuse_another_python(tree)
    _write_initrd(target / "initrd", tree, kernel)
    _furnish(tree)
    database = tree / "var/lib/mysql"
    make_disk(target / "data.raw", "data", database, "512M", progress)
    for found in database.iterdir():
        shutil.rmtree(found) if found.is_dir() else found.unlink()
    make_disk(target / "root.raw", "root", tree, "3G", progress)
    (target / "spare.raw").touch()
    os.truncate(target / "spare.raw", 64 << 20)
    shutil.rmtree(tree)
    return GuestImage(target, kernel, acceleration(kernel.file, store.folder / ACCELERATION).accelerator)


def refuse_missing() -> None:
    """Raises MissingToolError for tools or a right that a guest needs."""
    if os.geteuid() != 0:
        raise MissingToolError("a Debian with files of several owners is unpacked, which takes root")
    missing = [name for name in ("mmdebstrap", "mke2fs", "qemu-system-x86_64") if shutil.which(name) is None]
    if missing:
        raise MissingToolError(f"a Debian guest needs {', '.join(missing)}", "make test-all installs them")


def install_tree(target: Path, suite: str, packages: Sequence[str], progress: Callable[[str], None]) -> Path:
    """Installs a suite with these packages, and gives its unpacked root below `target`. Raises HostError."""
    host, log, tree = LocalHost(), target / "log", target / "tree"
    (target / "sources.list").write_text(source_lines(sources_of(host, suite)))
    (target / "apt.conf").write_text(reaching_settings(host))
    apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    install = [
        *(*apart, "--propagation", "private", "env", f"TMPDIR={target}"),
        *("mmdebstrap", "--mode=root", "--variant=essential", "--format=tar"),
        *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in DOCUMENTS),
        *(f"--aptopt={target / 'apt.conf'}", f"--include={','.join(packages)}"),
        *(suite, str(target / "root.tar"), str(target / "sources.list")),
    ]
    watch(install, log, progress, what=f"installing {suite}")
    tree.mkdir()
    unpack = ["tar", "-x", "-p", "--numeric-owner", "-f", str(target / "root.tar"), "-C", str(tree)]
    watch([*unpack, "--exclude=./dev/*"], log, progress, what="unpacking")
    (target / "root.tar").unlink()
    return tree


def _refuse_another_python(tree: Path) -> None:
    """The packages of this Python, compiled ones among them, are what mydyno imports in the guest."""
    ours = f"python3.{sys.version_info.minor}"
    theirs = (tree / "usr/bin/python3").readlink().name
    if ours != theirs:
        raise MissingToolError(f"the guest has {theirs} and mydyno runs on {ours} here")


def _write_initrd(place: Path, tree: Path, kernel: KernelImage) -> None:
    modules = kernel.modules()
    busybox = next(path for path in (tree / "bin/busybox", tree / "usr/bin/busybox") if path.exists())
    entries = [
        *(folder(name) for name in ("bin", "dev", "root", "modules")),
        file("bin/busybox", busybox.read_bytes(), 0o755),
        *(file(f"modules/{module.name}", module.read_bytes()) for module in modules),
        file("order", "".join(f"{module.name}\n" for module in modules).encode()),
        file("init", _INIT.encode(), 0o755),
    ]
    place.write_bytes(b"".join(archive(entries)))


def _furnish(tree: Path) -> None:
    """What an installer would have written, and the unit of the agent."""
    (tree / "etc/fstab").write_text(_FSTAB)
    (tree / "etc/hostname").write_text("guest\n")
    # Without a number of its own a machine starts for the first time, again and again.
    (tree / "etc/machine-id").write_text("6d7964796e6f40008000000000000000\n")
    units = tree / "etc/systemd/system"
    for name in MASKED:
        (units / name).unlink(missing_ok=True)
        (units / name).symlink_to("/dev/null")
    for place in (SOURCE, PACKAGES):
        (tree / place.relative_to("/")).mkdir(parents=True)
    agent = tree / "usr/local/sbin/mydyno-agent"
    shutil.copyfile(find_program("mydyno-agent"), agent)
    agent.chmod(0o755)
    (units / "mydyno-agent.service").write_text(_AGENT_UNIT)
    (units / "multi-user.target.wants").mkdir(exist_ok=True)
    (units / "multi-user.target.wants/mydyno-agent.service").symlink_to("../mydyno-agent.service")


def make_disk(place: Path, label: str, content: Path, size: str, progress: Callable[[str], None]) -> None:
    """An ext4 with this label and content, as the whole of a raw disk."""
    owner = content.stat()
    own = f"root_owner={owner.st_uid}:{owner.st_gid}"
    make = ["mke2fs", "-q", "-t", "ext4", "-L", label, "-E", own, "-d", str(content), str(place), size]
    watch(make, place.parent / "log", progress, what=f"making the disk {label}")


class DebianGuest:
    """A guest that is switched on and off; its disks stay until `folder` goes. Off when made."""

    def __init__(self, image: GuestImage, folder: Path) -> None:
        """`folder` gets overlays of the image's disks, and console.log."""
        self._image, self._folder = image, folder
        self._process: Process | None = None
        self._channel: Channel | None = None
        self._host: AgentHost | None = None
        for name in _DISKS:
            make_overlay(image.disk(name), folder / f"{name}.qcow2")

    @property
    def console(self) -> str:
        return (self._folder / "console.log").read_text(errors="replace")

    @property
    def host(self) -> AgentHost:
        assert self._host is not None, "the guest is off"
        return self._host

    def switch_on(self) -> None:
        """Boots, until the agent answers, for which the server has been started. Raises HostError."""
        channel, channel_there = socket.socketpair()
        with channel, channel_there:
            console = self._folder / "console.log"
            console.touch()
            end = channel_there.fileno()
            self._process = LocalHost().start(self._argv(end), output=console, inherited=[end])
            descriptor = channel.detach()
        self._channel = Channel(descriptor, descriptor, name="the guest", console=lambda: self.console)
        self._host = AgentHost(
            self._channel,
            name="the guest",
            ephemeral=True,
            server_identity=None,
            environment={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
            | {"PYTHONPATH": f"{SOURCE}:{PACKAGES}", "PYTHONDONTWRITEBYTECODE": "1"},
            ready_seconds=_BOOT_SECONDS,
        )

    def run(self, *argv: str, timeout_seconds: float = _COMMAND_SECONDS) -> Finished:
        return self.host.run(argv, timeout_seconds=timeout_seconds)

    def output(self, *argv: str) -> str:
        """What a command that succeeds writes."""
        done = self.run(*argv)
        assert done.returncode == 0, f"{argv}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def mydyno(self, *words: str, timeout_seconds: float = _COMMAND_SECONDS) -> Finished:
        return self.run("python3", "-m", "mydyno", *words, timeout_seconds=timeout_seconds)

    def reboot(self) -> None:
        """As `reboot` does it: everything is stopped in order, and the machine starts anew."""
        assert self._process is not None
        # The agent is among what is stopped, at once or after it has answered.
        with suppress(HostError):
            self.run("systemctl", "reboot")
        assert self._process.wait(_SHUT_DOWN_SECONDS) is not None, self.console[-2000:]
        self.switch_off()
        self.switch_on()

    def switch_off(self) -> None:
        """As by pulling the plug: what the guest has not written to its disks is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10.0)
        if self._channel is not None:
            self._channel.close()
        self._process = self._channel = self._host = None

    def _argv(self, channel: int) -> list[str]:
        image = self._image
        argv = [
            *("qemu-system-x86_64", *base(image.accelerator), "-smp", "2", "-m", "1024M"),
            *("-kernel", str(image.kernel.file), "-initrd", str(image.initrd)),
            *("-append", kernel_line("systemd.show_status=no")),
            *("-chardev", f"file,id=console,path={escaped(self._folder / 'console.log')},append=on"),
            *("-serial", "chardev:console", "-device", "virtio-serial-pci"),
            *("-chardev", f"socket,id=channel,fd={channel}"),
            *("-device", f"virtserialport,chardev=channel,name={CHANNEL}"),
        ]
        for number, name in enumerate(_DISKS):
            place = escaped(self._folder / f"{name}.qcow2")
            argv += ["-drive", f"file={place},format=qcow2,if=none,id=drive-{name},cache=writeback"]
            argv += ["-device", f"virtio-blk-pci,drive=drive-{name},serial={name},addr={0x10 + number:#x}"]
        for tag, shown in _shown().items():
            argv += ["-fsdev", f"local,id={tag},path={escaped(shown)},security_model=none,readonly=on"]
            argv += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        return argv


_DISKS = ("root", "data", "spare")
"""/dev/vda, vdb and vdc of the guest; the last is blank."""


def _shown() -> dict[str, Path]:
    return {"source": Path(mydyno.__file__).parents[1], "packages": Path(pydantic.__file__).parents[1]}
