"""Fetching a User-Mode Linux kernel: the package of the suite that has it, unpacked, never installed.

Needs no root. A kernel is in the cache whole or not at all, whatever interrupts the fetching.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from mydyno.core import raid
from mydyno.core.errors import UsageError
from mydyno.core.writing import writing
from mydyno.machine.cache_store import CacheStore
from mydyno.machine.images.apt import PrivateApt
from mydyno.machine.images.build import Progress, need, now
from mydyno.machine.images.modules import choose, read_module
from mydyno.machine.images.suites import SUITES, machine_suite, sources_of, suite_of_kernel
from mydyno.machine.local import LocalHost
from mydyno.machine.uml.kernels import (
    BINARY,
    LIBRARIES,
    MANIFEST,
    MODULES,
    UmlKernel,
    UmlKernels,
    UmlManifest,
)

PACKAGE = "user-mode-linux"

WANTED = (
    # f2fs asks the kernel for it by name, and a guest has no modprobe to fetch it.
    "crc32_generic",
    *raid.MODULES,
    *("ext4", "xfs", "btrfs", "jfs", "reiserfs", "f2fs"),
    *("mq_deadline", "kyber_iosched", "bfq"),
)
"""By the kernel's own names; most are built in."""

# What the kernel's program is linked with.
_LIBRARY_PACKAGES = ("libc6",)


def default_version() -> str:
    """The kernel of the suite that this machine runs; of a machine that is not Debian, the settled one."""
    suite = machine_suite(LocalHost())
    return SUITES.get(suite or "", SUITES["bookworm"])


def fetch_kernel(kernels: UmlKernels, version: str, progress: Progress) -> UmlKernel:
    """Downloads the kernel of `version`, like 6.1, in about 20 seconds, 45 MB. Gives the one that is here.

    Raises MissingToolError, UsageError for a version that no suite has, HostError.
    """
    if (here := kernels.kernel(version)) is not None:
        return here
    suite = suite_of_kernel(version)
    need("apt-get", "dpkg-deb", "tar")
    host = LocalHost()
    sources = sources_of(host, suite)
    store = CacheStore(kernels.folder)
    with store.staging() as staging:
        apt = PrivateApt(host, staging, sources, progress)
        _check_version(apt.candidate(PACKAGE), version, suite)
        package = apt.fetch(PACKAGE)
        tree = apt.unpack(package, staging / "tree")
        progress("choosing modules")
        (modules,) = tree.glob("usr/lib/uml/modules/*")
        chosen = choose(modules, WANTED, needed=())
        done = staging / version
        with writing(done):
            (done / MODULES).mkdir(parents=True)
            shutil.move(tree / "usr/bin/linux.uml", done / BINARY)
            names = [file.name.removesuffix(".xz") for file in chosen.files]
            for name, file in zip(names, chosen.files, strict=True):
                (done / MODULES / name).write_bytes(read_module(file))
        if not _runs(host, done / BINARY):
            need("bwrap")
            _add_libraries(apt, done / LIBRARIES)
        manifest = UmlManifest(
            release=modules.name,
            suite=suite,
            package=package.version,
            fetched=now(),
            sources=tuple(source.shown() for source in sources),
            modules=tuple(names),
            absent=chosen.absent,
        )
        with writing(done):
            (done / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n")
        store.put(done, kernels.folder / version)
    return UmlKernel(kernels.folder / version, manifest)


def _check_version(candidate: str | None, version: str, suite: str) -> None:
    """Raises UsageError when the suite's package (6.1um4+b13) is not of that kernel."""
    if candidate is None:
        raise UsageError(
            f"there is no User-Mode Linux in {suite}", f"take one of {', '.join(SUITES.values())}"
        )
    has = candidate.partition("um")[0]
    if has != version:
        raise UsageError(
            f"there is no User-Mode Linux kernel {version}: {suite} has {candidate}",
            f"take {', '.join(SUITES.values())} or {has}",
        )


def _runs(host: LocalHost, binary: Path) -> bool:
    """Whether this machine's own libraries are new enough for it."""
    return host.run([str(binary), "--version"]).returncode == 0


def _add_libraries(apt: PrivateApt, folder: Path) -> None:
    """A root with nothing but the suite's libraries, and the places that bwrap mounts on."""
    for name in _LIBRARY_PACKAGES:
        apt.unpack(apt.fetch(name), folder)
    with writing(folder):
        for name in ("lib", "lib64"):
            # Packages of suites since the merge of /usr leave these links to a separate package.
            if not (folder / name).exists() and (folder / "usr" / name).is_dir():
                (folder / name).symlink_to(f"usr/{name}")
        for name in ("dev", "proc", "host"):
            (folder / name).mkdir(exist_ok=True)
