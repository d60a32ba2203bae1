"""The folder of installed releases.

    mysql-5.6/       manifest.json, and what its provider has unpacked
    .partial-XXXX/   being installed or removed
    lock             held by the process that installs or removes: one at a time

A run holds a shared lock on the folder of each release that it uses, so that it is not removed meanwhile.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from mydyno.core import environment
from mydyno.core.errors import UsageError
from mydyno.core.folders import cache_folder
from mydyno.core.manifest import Manifest as BaseManifest
from mydyno.core.writing import writing
from mydyno.machine.cache_store import PARTIAL, CacheStore, remove_tree
from mydyno.machine.local import LocalHost
from mydyno.server.releases.provider import ROOT, ProviderName

_NAME = "servers"

_OF_THE_MACHINE = Path("/var/cache/mydyno") / _NAME
"""Where root's cache of releases is when its home is closed to the user that servers run as."""


class Manifest(BaseManifest):
    """One release."""

    name: str
    provider: ProviderName
    version: str
    """Vendor and numbers: `MariaDB 10.5.29`."""
    binary: Path
    """In the release's folder, or absolute: in its private root, or elsewhere on this machine."""
    private_root: bool
    source: str
    packages: dict[str, str]
    checksum: str | None
    size_bytes: int
    """That it takes in the cache: next to nothing for a directory, which is used where it is."""
    mydyno: str
    """The version that installed it."""
    installed: str
    """UTC, to the second, ISO 8601."""
    seconds: float


@dataclass(frozen=True)
class Installed:
    """A release that is here."""

    folder: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def binary(self) -> Path:
        """The server program, as a process in the release's root sees it."""
        return self.folder / self.manifest.binary

    @property
    def root(self) -> Path | None:
        """The private root that it runs in; None: this machine's own."""
        if not self.manifest.private_root:
            return None
        return self.home if self.manifest.provider == "directory" else self.folder / ROOT

    @property
    def home(self) -> Path:
        """The folder with all its files."""
        return Path(self.manifest.source) if self.manifest.provider == "directory" else self.folder


class ReleaseStore(CacheStore):
    """All releases of one cache folder."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder or servers_folder())

    def installed(self, name: str) -> Installed | None:
        """The release of that name; None when it is not here, or not readable."""
        folder = self.folder / name
        manifest = Manifest.read(folder)
        return Installed(folder, manifest) if manifest else None

    def all(self) -> list[Installed]:
        """Every release that is here, by name."""
        return [installed for name in self.names() if (installed := self.installed(name)) is not None]

    def names(self) -> list[str]:
        """Everything that `remove` takes, readable or not."""
        return sorted(
            path.name for path in self.folder.glob("*") if path.is_dir() and not path.name.startswith(".")
        )

    def remove(self, name: str) -> bool:
        """Removes the release, even one that an older mydyno installed; False: there is none.

        It is renamed first, so that no half of it is ever found. Raises UsageError when it is in use.
        """
        with self.locked():
            folder = self.folder / name
            if name not in self.names():
                return False
            with _lock(folder, fcntl.LOCK_EX, f"{name} is in use by a mydyno that is running"):
                with writing(folder):
                    gone = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=self.folder))
                    folder.rename(gone / name)
                remove_tree(gone)
        return True

    @contextmanager
    def in_use(self, names: Iterable[str]) -> Iterator[None]:
        """These releases are not removed during the block. Raises UsageError for one that is gone."""
        with ExitStack() as held:
            for name in names:
                held.enter_context(
                    _lock(self.folder / name, fcntl.LOCK_SH, f"the release {name} is being removed")
                )
            yield


def servers_folder() -> Path:
    """The store's folder: `servers` in mydyno's cache.

    Servers of root run as another user, who may not enter root's home; then it is a folder of the machine's.
    """
    chosen = cache_folder(_NAME)
    if environment.CACHE.read() or os.environ.get("XDG_CACHE_HOME") or not _closed(Path.home()):
        return chosen
    return _OF_THE_MACHINE


def _closed(folder: Path) -> bool:
    host = LocalHost()
    identity = host.server_identity
    return identity is not None and host.run(["test", "-x", str(folder)], identity=identity).returncode != 0


@contextmanager
def _lock(folder: Path, kind: int, otherwise: str) -> Iterator[None]:
    """Holds a lock on the folder itself. Raises UsageError with `otherwise` when another has it."""
    gone = UsageError(f"the release {folder.name} is not here any more")
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise gone from error
    try:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(otherwise, "try again when it has ended") from error
        # It may have been renamed between the two calls.
        if not folder.exists() or not os.path.samestat(os.fstat(descriptor), folder.stat()):
            raise gone
        yield
    finally:
        os.close(descriptor)
