"""The User-Mode Linux kernels that this machine has in mydyno's cache.

6.1/   linux.uml, modules/, manifest.json, and libraries/ when this machine's own are too old for it

Needs no root. A kernel is in the cache whole or not at all, whatever interrupts the fetching.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from mydyno.core import raid
from mydyno.core.errors import UsageError
from mydyno.core.folders import cache_folder
from mydyno.core.manifest import Manifest
from mydyno.core.writing import writing
from mydyno.machine.cache_store import PARTIAL, CacheStore
from mydyno.machine.images.apt import PrivateApt
from mydyno.machine.images.build import Progress, need, now
from mydyno.machine.images.modules import choose, read_module
from mydyno.machine.images.suites import SUITES, machine_suite, sources_of, suite_of_kernel
from mydyno.machine.local import LocalHost

BINARY = "linux.uml"
MODULES = "modules"
LIBRARIES = "libraries"
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


class UmlManifest(Manifest):
    """What is known of a fetched kernel."""

    release: str
    """As uname(1) prints it: 6.1.176."""
    suite: str
    package: str
    """Its full version: 6.1um4+b13."""
    fetched: str
    """UTC, to the second, ISO 8601."""
    sources: tuple[str, ...]
    modules: tuple[str, ...]
    """File names in the order of loading."""
    absent: tuple[str, ...]
    """Modules that a guest would load and this kernel has not."""


@dataclass(frozen=True)
class UmlKernel:
    """A kernel that is here."""

    folder: Path
    manifest: UmlManifest

    @property
    def version(self) -> str:
        """As an experiment writes it: 6.1."""
        return self.folder.name

    @property
    def binary(self) -> Path:
        return self.folder / BINARY

    @property
    def modules(self) -> tuple[Path, ...]:
        """In the order of loading."""
        return tuple(self.folder / MODULES / name for name in self.manifest.modules)

    @property
    def libraries(self) -> Path | None:
        """A root with the libraries that its suite has; None when this machine's own will do."""
        folder = self.folder / LIBRARIES
        return folder if folder.is_dir() else None


class UmlKernels:
    """All of one cache folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder("uml")

    def kernel(self, version: str) -> UmlKernel | None:
        """The kernel of `version`, like 6.1; None when it has not been fetched."""
        folder = self.folder / version
        manifest = UmlManifest.read(folder)
        return UmlKernel(folder, manifest) if manifest else None

    def all(self) -> list[UmlKernel]:
        """Those that are here, oldest version first."""
        return [kernel for version in self.versions() if (kernel := self.kernel(version)) is not None]

    def versions(self) -> list[str]:
        """Of every kernel that is here, also of one that cannot be read; oldest first."""
        names = [path.name for path in self.folder.glob("*") if re.fullmatch(r"\d+\.\d+", path.name)]
        return sorted(names, key=lambda name: tuple(map(int, name.split("."))))

    def remove(self, version: str) -> None:
        """A guest that runs on it goes on. Raises LabError when it cannot be removed."""
        folder = self.folder / version
        with writing(folder):
            # Under a name that is not a version's it is not a kernel any more, whatever happens next.
            shutil.rmtree(folder.rename(self.folder / f"{PARTIAL}{version}"))


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
        manifest.write(done)
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


def chosen_kernel(kernels: UmlKernels, wanted: str | None, progress: Progress) -> UmlKernel:
    """The kernel `version`, like 6.1 or 6.1.176; None: this machine's suite's, else the newest here.

    One that is not here is fetched. Raises UsageError for a version that is not available, MissingToolError
    and HostError when it cannot be fetched.
    """
    if wanted is None:
        version = default_version()
        here = kernels.all()
        return kernels.kernel(version) or (here[-1] if here else fetch_kernel(kernels, version, progress))
    version = ".".join(wanted.split(".")[:2])
    kernel = fetch_kernel(kernels, version, progress)
    if wanted not in (version, kernel.manifest.release):
        raise UsageError(
            f"there is no User-Mode Linux kernel {wanted}: here is {kernel.manifest.release}",
            f"take {version} or {kernel.manifest.release}",
        )
    return kernel
