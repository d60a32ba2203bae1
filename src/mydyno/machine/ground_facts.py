"""What this machine has for environments, read without changing anything."""

import os
import platform
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from mydyno.core.errors import MydynoError
from mydyno.core.facts import AskedDisk, DiskFacts, GroundFacts
from mydyno.machine import proc
from mydyno.machine.block_devices import read_block_device
from mydyno.machine.device_refusals import refusals
from mydyno.machine.environment import file_text
from mydyno.machine.images import ImageStore
from mydyno.machine.images.suites import SUITES, machine_suite
from mydyno.machine.local import LocalHost
from mydyno.machine.programs import find_program
from mydyno.machine.protocol import Host
from mydyno.machine.uml.kernels import UmlKernels, default_version
from mydyno.machine.vm.acceleration import ACCELERATION, acceleration, known
from mydyno.machine.vm.overlay import QEMU_IMG

PROGRAMS = ("mdadm", "fio", "mke2fs", "mkfs.xfs", "mkfs.btrfs", "mkfs.jfs", "mkreiserfs", "mkfs.f2fs")
_FILESYSTEMS = ("ext2", "ext3", "ext4", "xfs", "btrfs", "jfs", "reiserfs", "f2fs")
_FETCHERS = ("apt-get", "dpkg-deb", "tar")
_QEMU = ("qemu-system-x86_64", QEMU_IMG)
_CAP_SYS_ADMIN = 21
"""The number of the capability that mounting and attaching loop devices takes (capabilities(7))."""


def read_ground_facts(*, try_kvm: bool = False) -> GroundFacts:
    """The environments of this machine.

    `try_kvm` boots a guest kernel, if one is built, for at most 8 s, when it is not known yet whether KVM
    works; the answer is kept in the cache.
    """
    modules = Path("/lib/modules") / platform.release() / "kernel"
    store, uml = ImageStore(), UmlKernels()
    vm_kernel = _vm_kernel(store)
    return GroundFacts(
        root=proc.has_capability(file_text("/proc/self/status") or "", _CAP_SYS_ADMIN),
        kernel=platform.release(),
        filesystems=mountable(file_text("/proc/filesystems"), _module_names(modules / "fs")),
        md=Path("/proc/mdstat").exists() or "md-mod" in _module_names(modules / "drivers/md"),
        loops=Path("/dev/loop-control").exists(),
        throttling=can_throttle(
            file_text("/proc/cgroups"), file_text("/sys/fs/cgroup/cgroup.subtree_control")
        ),
        programs=frozenset(program for program in PROGRAMS if shutil.which(program) is not None),
        agent=_has_agent(),
        ssh=shutil.which("ssh") is not None,
        fetches=all(shutil.which(program) is not None for program in _FETCHERS),
        uml_kernels=tuple(kernel.manifest.release for kernel in uml.all()),
        uml_kernel=_uml_kernel(uml),
        qemu=all(shutil.which(program) is not None for program in _QEMU),
        kvm=_kvm(store, vm_kernel, try_kvm),
        vm_kernels=_vm_kernels(store),
        vm_kernel=vm_kernel,
        suite_kernels=tuple(SUITES.values()),
    )


def mountable(filesystems: str | None, modules: Iterable[str]) -> frozenset[str]:
    """File systems on block devices that the kernel has, or has modules for. The columns: filesystems(5)."""
    lines = [line.split() for line in (filesystems or "").splitlines()]
    built_in = {words[0] for words in lines if len(words) == 1}
    return frozenset(built_in | (set(modules) & set(_FILESYSTEMS)))


def can_throttle(cgroups: str | None, used_by_v2: str | None) -> bool:
    """Whether cgroup v1's blkio is there or can be mounted, from /proc/cgroups (cgroups(7)).

    A controller in no v1 hierarchy (0) belongs to v2, which lends it out while no group of it uses io.
    """
    match = re.search(r"^blkio\s+(\d+)\s+\d+\s+1$", cgroups or "", re.MULTILINE)
    if match is None:
        return False
    return match[1] != "0" or "io" not in (used_by_v2 or "").split()


def _uml_kernel(kernels: UmlKernels) -> str:
    """What `machine/uml/fetch.py` takes: that of this machine's suite, else the newest here."""
    version, here = default_version(), kernels.all()
    return version if kernels.kernel(version) or not here else here[-1].version


def _vm_kernels(store: ImageStore) -> tuple[str, ...]:
    return tuple(
        image.package_version.partition("-")[0] for image in store.images() if image.kind == "kernel"
    )


def _vm_kernel(store: ImageStore) -> str | None:
    """What `vm/chosen.py` takes: that of the root, which is of this machine's suite, else the newest."""
    roots = [image for image in store.images() if image.kind == "root"]
    if not roots:
        return None
    own = machine_suite(LocalHost())
    newest = max(roots, key=lambda image: image.built)
    suite = own if own in [root.suite for root in roots] else newest.suite
    return SUITES.get(str(suite))


def _kvm(store: ImageStore, version: str | None, boot: bool) -> bool | None:
    """Whether KVM works, as far as that is known; `boot`: tried with a kernel, when one is built."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    cache = store.folder / ACCELERATION
    kernel = store.kernel(version) if version and boot else None
    try:
        tried = acceleration(kernel.file, cache) if kernel else known(cache)
    except MydynoError:
        return None
    return tried.accelerator == "kvm" if tried else None


def disk_facts(host: Host, disk: AskedDisk) -> DiskFacts:
    """Facts of a real disk of `host`. One that is not there is refused as one that is in use is."""
    try:
        device = read_block_device(host, Path(disk.name))
    except MydynoError as error:
        return DiskFacts(disk.name, (error.message,))
    return DiskFacts(device.description(), tuple(refusals(device, disk)))


def _has_agent() -> bool:
    try:
        find_program("mydyno-agent")
    except MydynoError:
        return False
    return True


def _module_names(folder: Path) -> set[str]:
    return {file.name.partition(".ko")[0] for file in folder.glob("**/*.ko*")}
