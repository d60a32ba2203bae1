"""A folder of the user's with a server in it: used where it is, never copied, never changed.

Whatever is rebuilt there is what the next run starts. A folder with a whole system in it, its own loader
of shared libraries among its files, is a private root: its server runs with the libraries of that system.
"""

from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import UsageError
from mydyno.core.writing import writing
from mydyno.machine.images.build import Progress
from mydyno.server.releases.place import is_system, server_in
from mydyno.server.releases.provider import CONTENT, Provided, ProviderName


@dataclass(frozen=True)
class Directory:
    """A folder of this machine."""

    folder: Path
    name: ProviderName = "directory"

    def install(self, staging: Path, progress: Progress) -> Provided:
        """Only looks. Raises UsageError."""
        progress(f"looking for a server in {self.folder}")
        folder = self.folder.resolve()
        if not folder.is_dir():
            raise UsageError(f"there is no folder {self.folder}")
        private_root = is_system(folder)
        if private_root:
            binary = Path("/") / server_in(folder / "usr").relative_to(folder)
        else:
            binary = server_in(folder)
        with writing(staging):
            (staging / CONTENT).mkdir()
        return Provided(binary=binary, source=str(folder), private_root=private_root)
