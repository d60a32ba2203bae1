"""Programs of Debian that are run from where their package was unpacked: nothing is installed."""

from collections.abc import Callable
from pathlib import Path

from mydyno.core.folders import cache_folder
from mydyno.machine.cache_store import CacheStore
from mydyno.machine.images.apt import PrivateApt
from mydyno.machine.images.build import Progress, need
from mydyno.machine.images.suites import sources_of
from mydyno.machine.local import LocalHost

_CACHE = "programs"


def folder_of(package: str) -> Path:
    """Where its files are once it was fetched."""
    return cache_folder(_CACHE) / package


def fetch(package: str, suite: str, progress: Progress, check: Callable[[Path], None] | None = None) -> Path:
    """The folder with the files of a suite's package, which `check` may refuse before they are kept.

    Raises MissingToolError, HostError, and what `check` raises.
    """
    need("apt-get", "dpkg-deb")
    host = LocalHost()
    store = CacheStore(cache_folder(_CACHE))
    with store.staging() as staging:
        apt = PrivateApt(host, staging, sources_of(host, suite), progress)
        tree = apt.unpack(apt.fetch(package), staging / package)
        if check is not None:
            check(tree)
        store.put(tree, folder_of(package))
    return folder_of(package)
