"""An archive of a server (tar, plain or compressed), unpacked into the cache."""

import errno
import hashlib
import lzma
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.beneath import opened_folder
from mydyno.core.errors import UsageError
from mydyno.core.folders import full_cache
from mydyno.core.writing import writing
from mydyno.machine.images.build import Progress
from mydyno.server.releases.entries import EntryError, unpack_entry
from mydyno.server.releases.place import server_in
from mydyno.server.releases.provider import CONTENT, Provided, ProviderName

TREE = "tree"
"""The folder in the release's that holds what was in the archive."""

_REPORTED_EVERY = 500


@dataclass(frozen=True)
class Archive:
    """A file of this machine."""

    file: Path
    name: ProviderName = "archive"

    def install(self, staging: Path, progress: Progress) -> Provided:
        """Raises UsageError for what is not an archive, holds no server or would leave its folder;
        LabError."""
        tree = staging / CONTENT / TREE
        checksum = digest(self.file, "sha256")
        unpack(self.file, tree, progress)
        try:
            binary = server_in(tree)
        except UsageError as error:
            raise UsageError(f"{self.file}: {error.message.replace(f'{tree} holds', 'it holds')}") from error
        return Provided(
            binary=binary.relative_to(staging / CONTENT),
            source=str(self.file.resolve()),
            checksum=f"sha256-{checksum.hex()}",
        )


def unpack(file: Path, target: Path, progress: Progress) -> None:
    """Unpacks into the new folder `target`, owned by mydyno's user, without device files and setuid bits.

    What points out of `target` is refused, by rules of our own (`entries.py`). Raises UsageError, LabError.
    """
    progress(f"unpacking {file.name}")
    with writing(target):
        target.mkdir(parents=True)
    try:
        with tarfile.open(file, "r:*") as archive, opened_folder(target) as top:
            for count, member in enumerate(archive, start=1):
                if count % _REPORTED_EVERY == 0:
                    progress(f"unpacking {file.name}: {count} files")
                unpack_entry(archive, member, top)
    except EntryError as error:
        raise UsageError(f"{file} is refused: {error}", "an archive of a server has no such entry") from error
    except (tarfile.TarError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise _broken(file, error) from error
    except OSError as error:
        if error.errno is None:  # gzip and bz2 call broken data that.
            raise _broken(file, error) from error
        if error.errno == errno.ENOSPC:
            raise full_cache(target) from error
        with writing(target):
            raise


def _broken(file: Path, error: Exception) -> UsageError:
    return UsageError(
        f"{file} is not a complete tar archive: {error}",
        "give plain tar, or one compressed by gzip, bzip2 or xz",
    )


def digest(file: Path, algorithm: str) -> bytes:
    """Raises UsageError when the file cannot be read."""
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, algorithm).digest()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
