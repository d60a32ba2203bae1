"""An archive of a server (tar, plain or compressed, or zip), unpacked into the cache."""

import errno
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from mydyno.core.beneath import opened_folder
from mydyno.core.errors import UsageError
from mydyno.core.folders import full_cache
from mydyno.core.writing import writing
from mydyno.machine.images.build import Progress
from mydyno.server.releases.entries import Entry, EntryError, tar_entries, unpack_entry, zip_entries
from mydyno.server.releases.place import server_in
from mydyno.server.releases.provider import CONTENT, Provided, ProviderName

_TREE = "tree"
"""The folder in the release's that holds what was in the archive."""

_REPORTED_EVERY = 500
_ZIP = b"PK\x03\x04"
"""How a zip begins; a tar of Java archives ends like one."""


@dataclass(frozen=True)
class Archive:
    """A file of this machine."""

    file: Path
    name: ProviderName = "archive"

    def install(self, staging: Path, progress: Progress) -> Provided:
        """Raises UsageError for what is not an archive, holds no server or would leave its folder;
        LabError."""
        tree = staging / CONTENT / _TREE
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


def unpack(file: Path, target: Path, progress: Progress, places: Mapping[str, str] | None = None) -> None:
    """Unpacks into the new folder `target`, owned by mydyno's user, without device files and setuid bits.

    `places`: the files and folders that are unpacked, each with its place in `target`; None: all as they
    are. What points out of `target` is refused, by rules of our own. Raises UsageError, LabError.
    """
    progress(f"unpacking {file.name}")
    with writing(target):
        target.mkdir(parents=True)
    try:
        with _entries(file) as entries, opened_folder(target) as top:
            for count, entry in enumerate(entries, start=1):
                if count % _REPORTED_EVERY == 0:
                    progress(f"unpacking {file.name}: {count} files")
                if (placed := entry if places is None else _placed(entry, places)) is not None:
                    unpack_entry(placed, top)
    except EntryError as error:
        raise UsageError(f"{file} is refused: {error}", "an archive of a server has no such entry") from error
    except (tarfile.TarError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise _broken(file, error) from error
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise _broken(file, error) from error
    except OSError as error:
        if error.errno is None:  # gzip and bz2 call broken data that.
            raise _broken(file, error) from error
        if error.errno == errno.ENOSPC:
            raise full_cache(target) from error
        with writing(target):
            raise


@contextmanager
def _entries(file: Path) -> Iterator[Iterator[Entry]]:
    with file.open("rb") as content:
        is_zip = content.read(len(_ZIP)) == _ZIP
    if is_zip:
        with zipfile.ZipFile(file) as archive:
            yield zip_entries(archive)
    else:
        with tarfile.open(file, "r:*") as archive:
            yield tar_entries(archive)


def _placed(entry: Entry, places: Mapping[str, str]) -> Entry | None:
    """The entry at its place; None when it has none."""
    place = _place(entry.name, places)
    if place is None:
        return None
    if entry.kind != "hard link":
        return replace(entry, name=place)
    return replace(entry, name=place, to=_place(entry.to, places) or entry.to)


def _place(name: str, places: Mapping[str, str]) -> str | None:
    plain = name.removeprefix("./").strip("/")
    for source, place in places.items():
        if plain == source or plain.startswith(f"{source}/"):
            return place + plain.removeprefix(source)
    return None


def _broken(file: Path, error: Exception) -> UsageError:
    return UsageError(
        f"{file} is not a complete tar or zip archive: {error}",
        "give zip, plain tar, or tar compressed by gzip, bzip2 or xz",
    )


def digest(file: Path, algorithm: str) -> bytes:
    """Raises UsageError when the file cannot be read."""
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, algorithm).digest()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
