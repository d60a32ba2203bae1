"""Making a guest kernel: the suite's own package, unpacked, with only the modules that guests load."""

import hashlib
import re
import shutil
import time
from pathlib import Path

from mydyno import __version__
from mydyno.core.errors import HostError
from mydyno.core.writing import writing
from mydyno.machine.images.apt import PrivateApt
from mydyno.machine.images.build import Progress, need, now
from mydyno.machine.images.modules import choose, read_module, unsigned
from mydyno.machine.images.store import ImageStore, KernelImage, KernelManifest
from mydyno.machine.images.suites import sources_of, suite_of_kernel
from mydyno.machine.local import LocalHost

METAPACKAGE = "linux-image-amd64"
"""The full kernel. The cloud flavour lacks jfs and reiserfs."""


def build_kernel(store: ImageStore, version: str, progress: Progress) -> KernelImage:
    """Downloads the kernel of `version`, like 6.1, and puts it into the store. Needs no root.

    Raises MissingToolError, UsageError for a version that no suite has, HostError.
    """
    suite = suite_of_kernel(version)
    need("apt-get", "dpkg-deb", "tar")
    started = time.monotonic()
    host = LocalHost()
    sources = sources_of(host, suite)
    with store.staging() as staging:
        apt = PrivateApt(host, staging, sources, progress)
        package = _real_package(apt.depends(METAPACKAGE), suite)
        _check_version(package, version, suite)
        fetched = apt.fetch(package)
        tree = apt.unpack(fetched, staging / "tree")
        progress("choosing modules")
        manifest = _assemble(staging / "kernel", tree, fetched.file, suite, version, started)
        manifest = manifest.model_copy(update={"sources": tuple(source.shown() for source in sources)})
        manifest.write(staging / "kernel")
        place = store.folder / "kernels" / version
        store.put(staging / "kernel", place)
    return KernelImage(place, manifest)


def _assemble(
    target: Path, tree: Path, archive: Path, suite: str, version: str, started: float
) -> KernelManifest:
    """Fills `target` with the kernel and its chosen modules."""
    # Since the merge of /usr a package may have its modules at either place.
    (folder,) = [*tree.glob("lib/modules/*"), *tree.glob("usr/lib/modules/*")]
    chosen = choose(folder)
    with writing(target):
        (target / "modules").mkdir(parents=True)
        shutil.copyfile(tree / "boot" / f"vmlinuz-{folder.name}", target / "vmlinuz")
        shutil.copyfile(tree / "boot" / f"config-{folder.name}", target / "config")
        names = [file.name.removesuffix(".xz") for file in chosen.files]
        for name, file in zip(names, chosen.files, strict=True):
            (target / "modules" / name).write_bytes(unsigned(read_module(file)))
    package, package_version, _ = archive.stem.split("_")
    return KernelManifest(
        name=f"linux-{version}",
        suite=suite,
        mydyno=__version__,
        built=now(),
        seconds=round(time.monotonic() - started, 1),
        sources=(),
        sha256=hashlib.sha256(archive.read_bytes()).hexdigest(),
        size_bytes=sum(file.stat().st_size for file in target.rglob("*") if file.is_file()),
        release=folder.name,
        package=package,
        package_version=package_version.replace("%3a", ":"),
        modules=tuple(names),
        built_in=chosen.built_in,
        absent=chosen.absent,
    )


def _real_package(depends: str, suite: str) -> str:
    """The package that the metapackage stands for, from `apt-cache depends`."""
    match = re.search(r"^\s+Depends: (linux-image-\S+)$", depends, re.MULTILINE)
    if match is None:
        raise HostError(
            f"the package sources have no {METAPACKAGE} in {suite}",
            "is the suite still on the mirror of this machine's package sources?",
        )
    return match[1]


def _check_version(package: str, version: str, suite: str) -> None:
    has = re.match(r"linux-image-(\d+\.\d+)", package)
    if has is None or has[1] != version:
        raise HostError(
            f"there is no kernel {version}: {suite} has {package}", f"take {has[1]}" if has else None
        )
