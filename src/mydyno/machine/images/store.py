"""The folder of built images: an image is there whole or not at all.

    roots/bookworm/      root.erofs, server-help.txt, manifest.json
    kernels/6.1/         vmlinuz, modules/, manifest.json
    initrds/DIGEST.cpio  made of a kernel and mydyno's programs when a guest starts
    .partial-XXXX/       being built
    lock                 held by the process that builds or removes: one at a time

So the process that holds the lock may sweep every `.partial` folder: its builder was killed.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mydyno.core.folders import cache_folder
from mydyno.core.manifest import Manifest as BaseManifest
from mydyno.machine.cache_store import CacheStore, remove_tree


class _Manifest(BaseManifest):
    name: str
    """What `images list` shows and `images remove` takes."""
    suite: str
    mydyno: str
    """The version that built it."""
    built: str
    """UTC, to the second, ISO 8601."""
    seconds: float
    sources: tuple[str, ...]
    sha256: str
    """Of root.erofs, or of the kernel's package: equal for equal packages, whenever and wherever built."""
    size_bytes: int


class RootManifest(_Manifest):
    """The root file system of a suite: server, fio, mdadm and the makers of file systems."""

    kind: Literal["root"] = "root"
    server: str
    """What the server says to --version."""
    packages: dict[str, str]
    """Every installed package and its version."""


class KernelManifest(_Manifest):
    """A kernel of a suite and the modules that guests load."""

    kind: Literal["kernel"] = "kernel"
    release: str
    """As uname(1) prints it: 6.1.0-56-amd64."""
    package: str
    package_version: str
    modules: tuple[str, ...]
    """File names in the order of loading."""
    built_in: tuple[str, ...]
    absent: tuple[str, ...]
    """Modules that guests would load and this kernel has not: reiserfs since 6.13."""


Manifest = RootManifest | KernelManifest


@dataclass(frozen=True)
class RootImage:
    """A read-only root file system for guests."""

    folder: Path
    manifest: RootManifest

    @property
    def file(self) -> Path:
        return self.folder / "root.erofs"

    def server_help(self) -> str:
        """What its server says to `--no-defaults --verbose --help`: its options and their defaults."""
        return (self.folder / "server-help.txt").read_text()


@dataclass(frozen=True)
class KernelImage:
    """A kernel with the modules that guests load."""

    folder: Path
    manifest: KernelManifest

    @property
    def file(self) -> Path:
        return self.folder / "vmlinuz"

    def modules(self) -> list[Path]:
        """In the order of loading."""
        return [self.folder / "modules" / name for name in self.manifest.modules]


class ImageStore(CacheStore):
    """All images of one cache folder."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder or cache_folder("images"))

    def root(self, suite: str) -> RootImage | None:
        """The root of `suite`; None when it has not been built."""
        folder = self.folder / "roots" / suite
        manifest = RootManifest.read(folder)
        return RootImage(folder, manifest) if manifest else None

    def kernel(self, version: str) -> KernelImage | None:
        """The kernel of `version`, like 6.1; None when it has not been built."""
        folder = self.folder / "kernels" / version
        manifest = KernelManifest.read(folder)
        return KernelImage(folder, manifest) if manifest else None

    def images(self) -> list[Manifest]:
        """Of all that is built, roots first."""
        read = (RootManifest.read(folder) or KernelManifest.read(folder) for folder in self._folders())
        return [manifest for manifest in read if manifest is not None]

    def remove(self, name: str) -> bool:
        """Removes the image of that name, even one that an older mydyno built; False: there is none.

        A guest that runs on it goes on: its files are gone only when it has closed them.
        """
        with self.locked():
            folders = [folder for folder in self._folders() if name_in_store(folder) == name]
            for folder in folders:
                remove_tree(folder)
        return bool(folders)

    def names(self) -> list[str]:
        """Everything that `remove` takes, readable or not."""
        return [name_in_store(folder) for folder in self._folders()]

    def initrd(self, digest: str) -> Path:
        """Where the initrd of that digest is, or is to be put."""
        return self.folder / "initrds" / f"{digest}.cpio"

    def remove_initrds(self) -> None:
        """They are made again within a second, when a guest starts."""
        with self.locked():
            remove_tree(self.folder / "initrds")

    def _folders(self) -> list[Path]:
        return sorted(self.folder.glob("roots/*")) + sorted(self.folder.glob("kernels/*"))


def name_in_store(folder: Path) -> str:
    """The name of an image by its place: `bookworm` for a root, `linux-6.1` for a kernel."""
    return folder.name if folder.parent.name == "roots" else f"linux-{folder.name}"
