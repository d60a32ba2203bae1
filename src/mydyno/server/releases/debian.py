"""A server package of one of Debian's suites with everything that it needs, unpacked into a private root.

The packages are those that the suite's signed lists name. None is installed and no script of theirs is
run, so no root is needed and this machine is not changed.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted
from mydyno.core.server_version import Vendor
from mydyno.core.writing import writing
from mydyno.machine.images.apt import Package, PrivateApt
from mydyno.machine.images.build import DOCUMENTS, Progress, need, watch
from mydyno.machine.images.suites import MOVING_SUITE, sources_of
from mydyno.machine.local import LocalHost
from mydyno.server.releases.place import server_in
from mydyno.server.releases.provider import CONTENT, ROOT, Provided, ProviderName, Series, series_of_package

_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders that are links into usr since the merge of /usr (Debian's usrmerge(7))."""

_SERVER_PACKAGES = r"(mariadb|mysql)-server-core.*"


@dataclass(frozen=True)
class Debian:
    """The series that a package of a suite has, or is thought to have: sid moves on."""

    series: Series
    suite: str
    package: str
    name: ProviderName = "debian"

    def install(self, staging: Path, progress: Progress) -> Provided:
        """About a minute. Raises MissingToolError, UsageError when the suite has other series, HostError."""
        need("apt-get", "dpkg-deb")
        host = LocalHost()
        sources = sources_of(host, self.suite)
        architecture = host.run(["dpkg", "--print-architecture"]).stdout.strip()
        apt = PrivateApt(host, staging, sources, progress, architecture=architecture)
        self._check(apt)
        names = apt.closure(self.package)
        packages = apt.fetch_all(
            names, what=f"fetching {self.package} and {counted(len(names) - 1, 'package')} it needs"
        )
        root = staging / CONTENT / ROOT
        with writing(root):
            root.mkdir(parents=True)
        for package in packages:
            apt.unpack(package, root)
        # Files are as their packages have them but for set-user-ID programs, of which none is needed.
        watch(["chmod", "-R", "a-s,u+rwX", str(root)], staging / "log", progress, what="unpacking")
        with writing(root):
            merge_usr(root)
            leave_out_documents(root)
        return Provided(
            binary=Path("/") / server_in(root / "usr").relative_to(root),
            series=self.series,
            source=f"Debian {self.suite}: {_shown(packages, self.package)}",
            private_root=True,
            packages={package.name: package.version for package in packages},
        )

    def _check(self, apt: PrivateApt) -> None:
        """Raises UsageError, before anything is fetched, when the suite has moved on."""
        has = {
            package: series
            for package, version in apt.named_like(_SERVER_PACKAGES).items()
            if (series := series_of_package(_vendor(package), version)) is not None
        }
        if has.get(self.package) == self.series:
            return
        there = " and ".join(f"{series} ({package})" for package, series in has.items())
        others = " or ".join(series.name for series in has.values())
        raise UsageError(
            f"there is no {self.series} in Debian {self.suite}: it has {there or 'no server'}",
            f"take {others}" if others else "is the suite still on the mirror of this machine's sources?",
        )


def moving(series: Series) -> Debian:
    """What is in no settled suite is looked for in the one that moves."""
    return Debian(series, MOVING_SUITE, f"{series.vendor.lower()}-server-core")


def merge_usr(root: Path) -> None:
    """Makes /lib and the others links into usr, as newer suites have them; older ones use both places."""
    for name in _MERGED:
        folder, target = root / name, root / "usr" / name
        if folder.is_dir() and not folder.is_symlink():
            _move_into(folder, target)
            folder.rmdir()
        if target.is_dir() and not folder.is_symlink():
            folder.symlink_to(f"usr/{name}")
    (root / "etc").mkdir(exist_ok=True)


def leave_out_documents(root: Path) -> None:
    """What no server reads."""
    for name in DOCUMENTS:
        shutil.rmtree(root / "usr" / "share" / name, ignore_errors=True)


def _move_into(folder: Path, target: Path) -> None:
    """Moves what is in `folder`; what `target` has already stays: it is a link to the other, or its equal."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        there = target / entry.name
        if entry.is_dir() and not entry.is_symlink() and there.is_dir():
            _move_into(entry, there)
            entry.rmdir()
        elif there.exists() and not there.is_symlink():
            entry.unlink()
        else:
            entry.rename(there)


def _vendor(package: str) -> Vendor:
    return Vendor.MARIADB if package.startswith("mariadb") else Vendor.MYSQL


def _shown(packages: tuple[Package, ...], name: str) -> str:
    version = next(package.version for package in packages if package.name == name)
    return f"{name} {version}"
