"""What this machine has for grounds, read without changing anything."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from mydyno.core.errors import MydynoError
from mydyno.core.facts import AskedDisk, DiskFacts, GroundFacts
from mydyno.host.block_devices import read_block_device
from mydyno.host.device_refusals import AskedDevice, refusals
from mydyno.host.images import ImageStore
from mydyno.host.images.suites import SUITES, machine_suite
from mydyno.host.local import LocalHost

PROGRAMS = ("mdadm", "mke2fs", "mkfs.xfs", "mkfs.btrfs", "mkfs.jfs", "mkreiserfs", "mkfs.f2fs")
_FILESYSTEMS = ("ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "reiserfs", "f2fs")
_UML = "linux.uml"
_QEMU = "qemu-system-x86_64"
_CAP_SYS_ADMIN = 21
"""The number of the capability that mounting and attaching loop devices takes (capabilities(7))."""


def read_ground_facts(disks: Sequence[AskedDisk] = ()) -> GroundFacts:
    """The grounds of this machine, and what it tells of the real `disks` that an experiment names."""
    modules = Path("/lib/modules") / platform.release() / "kernel"
    store = ImageStore()
    return GroundFacts(
        root=has_capability(_text("/proc/self/status"), _CAP_SYS_ADMIN),
        kernel=platform.release(),
        filesystems=mountable(_text("/proc/filesystems"), _module_names(modules / "fs")),
        md=Path("/proc/mdstat").exists() or "md-mod" in _module_names(modules / "drivers/md"),
        loops=Path("/dev/loop-control").exists(),
        throttling=can_throttle(_text("/proc/cgroups"), _text("/sys/fs/cgroup/cgroup.subtree_control")),
        systemd=Path("/run/systemd/system").is_dir() and shutil.which("systemd-run") is not None,
        programs=frozenset(program for program in PROGRAMS if shutil.which(program) is not None),
        uml_kernels=_uml_kernels(),
        qemu=shutil.which(_QEMU) is not None,
        kvm=None if os.access("/dev/kvm", os.R_OK | os.W_OK) else False,
        vm_kernels=_vm_kernels(store),
        vm_kernel=_vm_kernel(store),
        disks={disk: _disk_facts(disk) for disk in disks},
    )


def has_capability(status: str | None, number: int) -> bool:
    """Whether the effective set of /proc/self/status has it: root in a container may lack it."""
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", status or "", re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> number & 1)


def mountable(filesystems: str | None, modules: Iterable[str]) -> frozenset[str]:
    """File systems on block devices that the kernel has, or has modules for. The columns: filesystems(5)."""
    lines = [line.split() for line in (filesystems or "").splitlines()]
    built_in = {words[0] for words in lines if len(words) == 1}
    return frozenset(built_in | (set(modules) & set(_FILESYSTEMS)))


def can_throttle(cgroups: str | None, used_by_v2: str | None) -> bool:
    """Whether cgroup v1's blkio is there or can be mounted, from /proc/cgroups (cgroups(7)).

    A controller in no v1 hierarchy (0) belongs to v2, which lends it out while no group of it uses io.
    """
    found = re.search(r"^blkio\s+(\d+)\s+\d+\s+1$", cgroups or "", re.MULTILINE)
    if found is None:
        return False
    return found[1] != "0" or "io" not in (used_by_v2 or "").split()


def _uml_kernels() -> tuple[str, ...]:
    if shutil.which(_UML) is None:
        return ()
    done = LocalHost().run([_UML, "--version"])
    version = done.stdout.strip()
    return (version,) if done.returncode == 0 and re.fullmatch(r"\d+\.\d+\S*", version) else ()


def _vm_kernels(store: ImageStore) -> tuple[str, ...]:
    names = [image.name for image in store.images() if image.kind == "kernel"]
    return tuple(name.removeprefix("linux-") for name in names)


def _vm_kernel(store: ImageStore) -> str | None:
    """That of the root which a guest would have: of this machine's own suite, else the newest."""
    roots = [image for image in store.images() if image.kind == "root"]
    if not roots:
        return None
    own = machine_suite(LocalHost())
    newest = max(roots, key=lambda image: image.built)
    suite = own if own in [root.suite for root in roots] else newest.suite
    return SUITES.get(str(suite)) or next(iter(_vm_kernels(store)), None)


def _disk_facts(disk: AskedDisk) -> DiskFacts:
    """A disk that is not there is refused as one that is in use is."""
    asked = AskedDevice(Path(disk.name), disk.serial, disk.wipe)
    try:
        device = read_block_device(LocalHost(), asked.name)
    except MydynoError as error:
        return DiskFacts(disk.name, (error.message,))
    return DiskFacts(device.description(), tuple(refusals(device, asked)))


def _module_names(folder: Path) -> set[str]:
    return {file.name.partition(".ko")[0] for file in folder.glob("**/*.ko*")}


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return None
