"""The folder of built images: an image is there whole or not at all.

    roots/bookworm/      root.erofs, server-help.txt, manifest.json
    kernels/6.1/         vmlinuz, modules/, manifest.json
    initrds/DIGEST.cpio  made of a kernel and mydyno's programs when a guest starts
    .partial-XXXX/       being built
    lock                 held by whoever builds or removes: one at a time

So whoever holds the lock may sweep every `.partial` folder: its builder was killed.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.cache import cache_folder
from mydyno.core.errors import LabError
from mydyno.core.writing import writing
from mydyno.host.images.manifest import KernelManifest, Manifest, RootManifest, read_manifest
from mydyno.host.local import LocalHost

_PARTIAL = ".partial-"
_ELSEWHERE = "mydyno-image-"
_MMDEBSTRAP = "mmdebstrap"


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


class ImageStore:
    """All images of one cache folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder("images")

    def root(self, suite: str) -> RootImage | None:
        """The root of `suite`; None when it has not been built."""
        folder = self.folder / "roots" / suite
        manifest = read_manifest(folder)
        return RootImage(folder, manifest) if isinstance(manifest, RootManifest) else None

    def kernel(self, version: str) -> KernelImage | None:
        """The kernel of `version`, like 6.1; None when it has not been built."""
        folder = self.folder / "kernels" / version
        manifest = read_manifest(folder)
        return KernelImage(folder, manifest) if isinstance(manifest, KernelManifest) else None

    def images(self) -> list[Manifest]:
        """Of all that is built, roots first."""
        return [manifest for folder in self._folders() if (manifest := read_manifest(folder)) is not None]

    def remove(self, name: str) -> bool:
        """Removes the image of that name, even one that an older mydyno built; False: there is none.

        A guest that runs on it goes on: its files are gone only when it has closed them.
        """
        with self._locked():
            found = [folder for folder in self._folders() if name_in_store(folder) == name]
            for folder in found:
                _remove_tree(folder)
        return bool(found)

    def names(self) -> list[str]:
        """Everything that `remove` takes, readable or not."""
        return [name_in_store(folder) for folder in self._folders()]

    def initrd(self, digest: str) -> Path:
        """Where the initrd of that digest is, or is to be put."""
        return self.folder / "initrds" / f"{digest}.cpio"

    def remove_initrds(self) -> None:
        """They are made again within a second, when a guest starts."""
        with self._locked():
            _remove_tree(self.folder / "initrds")

    def sweep(self) -> int:
        """Removes what killed builds have left; how many folders that were."""
        with self._locked():
            return self._sweep()

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A folder to build in, gone at the end of the block. Waits while another mydyno builds."""
        with self._locked():
            self._sweep()
            with writing(self.folder):
                folder = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self.folder))
            try:
                yield folder
            finally:
                _remove_tree(folder)

    def put(self, staged: Path, place: Path) -> None:
        """Moves a finished folder or file to its place, in exchange for what was there."""
        with writing(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.is_dir():
                place.rename(staged.with_name(f"{staged.name}.replaced"))
            staged.rename(place)

    def _folders(self) -> list[Path]:
        return sorted(self.folder.glob("roots/*")) + sorted(self.folder.glob("kernels/*"))

    def _sweep(self) -> int:
        left = list(self.folder.glob(f"{_PARTIAL}*"))
        for folder in left:
            _remove_tree(folder)
        return len(left)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def folder_elsewhere(staging: Path) -> Path:
    """A folder of /var/tmp that is to be made, for what cannot be in the cache; it goes with `staging`."""
    folder = Path("/var/tmp") / f"{_ELSEWHERE}{secrets.token_hex(6)}"
    (staging / _ELSEWHERE).write_text(str(folder))
    return folder


def name_in_store(folder: Path) -> str:
    """The name of an image by its place: `bookworm` for a root, `linux-6.1` for a kernel."""
    return folder.name if folder.parent.name == "roots" else f"linux-{folder.name}"


def _remove_tree(folder: Path) -> None:
    """Raises LabError."""
    with suppress(OSError):
        elsewhere = Path((folder / _ELSEWHERE).read_text())
        if elsewhere.parent == Path("/var/tmp") and elsewhere.name.startswith(_ELSEWHERE):
            _remove_tree(elsewhere)
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except PermissionError as error:
        # An ordinary user's mmdebstrap that was killed leaves files of the user ids that were lent to
        # it (subuid(5)); only inside such a user namespace can they be removed.
        LocalHost().run([_MMDEBSTRAP, "--unshare-helper", "rm", "-rf", "--", str(folder)])
        if folder.exists():
            raise LabError(f"{folder} cannot be removed: {error.strerror}") from error
