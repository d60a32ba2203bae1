"""A separate apt: the package lists of one suite in a private folder, and packages from it, unpacked."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import HostError
from mydyno.core.writing import writing
from mydyno.machine.images.build import Progress, watch
from mydyno.machine.images.suites import Source, reaching_settings, source_lines
from mydyno.machine.protocol import Host


@dataclass(frozen=True)
class Package:
    """A package that was fetched."""

    file: Path
    name: str
    version: str


class PrivateApt:
    """Shares nothing with this machine's apt but trusted keys and reach; needs no root."""

    def __init__(
        self,
        host: Host,
        folder: Path,
        sources: Iterable[Source],
        progress: Progress,
        *,
        architecture: str = "amd64",
    ) -> None:
        """Reads the package lists of `sources` into `folder`. Raises HostError."""
        self._folder = folder
        self._progress = progress
        self._log = folder / "log"
        self._host = host
        sources = tuple(sources)
        configuration = _configuration(
            folder / "apt", source_lines(sources), reaching_settings(host), architecture
        )
        self._with_apt = ["env", f"APT_CONFIG={configuration}"]
        names = ", ".join(dict.fromkeys(source.suite for source in sources))
        watch(
            [*self._with_apt, "apt-get", "update"],
            self._log,
            progress,
            what=f"reading the package lists of {names}",
        )

    def depends(self, package: str) -> str:
        """What `apt-cache depends` says of it."""
        return self._host.run([*self._with_apt, "apt-cache", "depends", package]).stdout

    def candidate(self, package: str) -> str | None:
        """The version that `fetch` would download; None when the suite has no such package."""
        policy = self._host.run([*self._with_apt, "apt-cache", "policy", package]).stdout
        match = re.search(r"^\s+Candidate: (\S+)$", policy, re.MULTILINE)
        return match[1] if match and match[1] != "(none)" else None

    def named_like(self, pattern: str) -> dict[str, str]:
        """Name -> version of the packages whose name the whole regular expression matches."""
        names = self._host.run([*self._with_apt, "apt-cache", "pkgnames"]).stdout.split()
        versions = {name: self.candidate(name) for name in sorted(names) if re.fullmatch(pattern, name)}
        return {name: version for name, version in versions.items() if version is not None}

    def closure(self, name: str) -> tuple[str, ...]:
        """`name` and all packages that it needs, where nothing is installed. Raises HostError."""
        done = self._host.run(
            [*self._with_apt, "apt-get", "install", "--simulate", "--no-install-recommends", name]
        )
        needed = tuple(re.findall(r"^Inst (\S+) ", done.stdout, re.MULTILINE))
        if done.returncode != 0 or not needed:
            output = done.stderr.strip() or done.stdout.strip()
            raise HostError(f"{name} and its dependencies cannot be installed together: {output}")
        return needed

    def fetch(self, name: str) -> Package:
        """Downloads a package. Raises HostError."""
        (package,) = self.fetch_all((name,), what=f"fetching {name}")
        return package

    def fetch_all(self, names: Sequence[str], *, what: str) -> tuple[Package, ...]:
        """Downloads packages. Raises HostError."""
        target = self._folder / "packages" / names[0]
        with writing(target):
            target.mkdir(parents=True)
        watch(
            ["env", "-C", str(target), *self._with_apt[1:], "apt-get", "download", *names],
            self._log,
            self._progress,
            what=what,
        )
        parts = [(file, file.stem.split("_")) for file in sorted(target.glob("*.deb"))]
        return tuple(Package(file, name, version.replace("%3a", ":")) for file, (name, version, _) in parts)

    def unpack(self, package: Package, target: Path) -> Path:
        """Unpacks its files below `target`, which may hold those of others. Raises HostError."""
        with writing(target):
            target.mkdir(exist_ok=True)
        watch(
            ["dpkg-deb", "-x", str(package.file), str(target)],
            self._log,
            self._progress,
            what=f"unpacking {package.name}",
        )
        return target


def _configuration(folder: Path, sources: str, settings: str, architecture: str) -> Path:
    with writing(folder):
        for name in ("state/lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text(sources)
        configuration = folder / "apt.conf"
        configuration.touch(mode=0o600)  # A proxy's address may hold a password.
        configuration.write_text(
            f'{settings}Dir::State "{folder}/state";\n'
            f'Dir::State::status "{folder}/status";\n'
            f'Dir::Cache "{folder}/cache";\n'
            f'Dir::Etc::sourcelist "{folder}/sources.list";\n'
            f'Dir::Etc::sourceparts "{folder}/none";\n'
            f'APT::Architecture "{architecture}";\nAPT::Architectures "{architecture}";\n'
            # Translations and the catalogue of programs with a window: half of all that would be fetched.
            'Acquire::Languages "none";\nAcquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";\n'
            # Else apt, run by root, fetches as a user who may not write here.
            'APT::Sandbox::User "root";\n'
        )
    return configuration
