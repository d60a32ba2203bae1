"""The plainest of tar archives, compressed with gzip: regular files with short names, and nothing else.

Read by hand, header by header, since a library unpacks what it finds: links, devices, names of any length.
The layout of a header is that of POSIX ustar ("pax Interchange Format", IEEE Std 1003.1).
"""

import gzip
import hashlib
import json
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from mydyno.core.errors import LabError

VERSION = 1
"""Of the bundle's format. A later one may hold what this mydyno would leave out without knowing."""

MANIFEST = "manifest.json"
ROWS = "rows.jsonl"

_FOLDER = r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,199}"
NAME = re.compile(_FOLDER)
"""A folder of a run or a trial."""
_ALLOWED = re.compile(
    rf"{ROWS}|experiment\.yaml|plan\.json|events\.jsonl|trials/{_FOLDER}(/[^/\x00-\x1f\x7f\\]+)+"
)
MOST_FILES = 65_536
_MOST_ITEMS = 4 * MOST_FILES
"""Commas and brackets of the manifest: they bound what it becomes in memory."""


_BLOCK = 512
_CHUNK = 1 << 20
_END = bytes(_BLOCK)
_MOST_PADDING = 64 << 10
"""tar fills its last record, of 10,240 bytes as a rule, with zeros."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class File(_Strict):
    """One file, in the order in which they follow."""

    path: str
    bytes: int = Field(ge=0, lt=1 << 63)
    """No file system has more."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(_Strict):
    format: Literal["mydyno-bundle"]
    version: PositiveInt
    mydyno: str
    """The version that wrote it."""
    lab_format: PositiveInt
    """Of the rows."""
    run: str
    """The folder of the run in the lab that it comes from."""
    experiment: str
    series: bool
    """False: the samples and intervals were left out."""
    anonymous: bool
    files: tuple[File, ...] = Field(max_length=MOST_FILES)

    @property
    def unpacked_bytes(self) -> int:
        """Of all its files, unpacked."""
        return sum(file.bytes for file in self.files)

    def document(self) -> bytes:
        """manifest.json: the fields, and a checksum over them."""
        content = self.model_dump(mode="json")
        return json.dumps(content | {"sha256": _checksum(content)}, indent=1).encode() + b"\n"


def read_manifest(content: bytes, name: str, newest_lab_format: int) -> Manifest:
    """Raises LabError: foreign, of a newer version, tampered, or naming a file that does not belong.

    `name`: the bundle, for messages.
    """
    if max(map(content.count, (b",", b"[", b"{"))) > _MOST_ITEMS:
        raise damaged(name, f"its {MANIFEST} names more than {MOST_FILES} files")
    try:
        document = json.loads(content)
        # Half of a surrogate pair cannot be written again, and what is nested deeper than this neither.
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise damaged(name, f"its {MANIFEST} is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != "mydyno-bundle":
        raise foreign(name)
    version, tables = document.get("version"), document.get("lab_format")
    for what, it_has, known in (("bundle", version, VERSION), ("lab", tables, newest_lab_format)):
        if isinstance(it_has, int) and it_has > known:
            raise LabError(
                f"{name} was written by a newer mydyno ({what} format {it_has}, this one knows up to "
                f"{known})",
                "upgrade mydyno; nothing was written",
            )
    checksum = document.pop("sha256", None)
    if checksum != _checksum(document):
        raise damaged(name, f"its {MANIFEST} does not match its own checksum")
    try:
        manifest = Manifest.model_validate_json(json.dumps(document))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise damaged(name, f"its {MANIFEST}, {where}: {first['msg']}") from error
    _check_names(manifest, name)
    return manifest


def _check_names(manifest: Manifest, name: str) -> None:
    if not NAME.fullmatch(manifest.run):
        raise damaged(name, f"{manifest.run[:80]!r} cannot be the name of a run")
    seen = set()
    for file in manifest.files:
        parts = file.path.split("/")
        if not _ALLOWED.fullmatch(file.path) or {"", ".", ".."} & set(parts):
            raise damaged(name, f"a file in it is called {file.path[:80]!r}, which is not a path in a run")
        if file.path in seen:
            raise damaged(name, f"it has {file.path[:80]!r} twice")
        seen.add(file.path)
    if not manifest.files or manifest.files[0].path != ROWS:
        raise damaged(name, f"its first file is not {ROWS}")


def _checksum(content: dict[str, object]) -> str:
    plain = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def foreign(name: str) -> LabError:
    return LabError(f"{name} is not a mydyno bundle", "`mydyno bundle NAME` writes one; nothing was written")


def damaged(name: str, how: str) -> LabError:
    return LabError(
        f"{name} is damaged or was tampered with: {how}", "copy it again from its source; nothing was written"
    )


class Sink(Protocol):
    def write(self, content: bytes, /) -> object: ...


class ArchiveWriter:
    """The same files give the same bytes: no time, no owner, no name of a machine."""

    def __init__(self, file: BinaryIO) -> None:
        self._gzip = gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)

    def add(self, path: str, size: int, chunks: Iterator[bytes]) -> None:
        """Raises LabError when the name or the size does not fit into a header (256 letters, 8 GB)."""
        info = tarfile.TarInfo(path)
        info.size, info.mode = size, 0o644
        try:
            self._gzip.write(info.tobuf(tarfile.USTAR_FORMAT))
        except ValueError as error:
            raise LabError(f"{path} cannot be bundled: {error}") from error
        for chunk in chunks:
            self._gzip.write(chunk)
        self._gzip.write(bytes(-size % _BLOCK))

    def close(self) -> None:
        self._gzip.write(2 * _END)
        self._gzip.close()


class ArchiveReader:
    """Gives the files one after the other, and never more bytes than requested.

    Raises LabError for what is cut off, damaged or no regular file.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._gzip = gzip.GzipFile(fileobj=file, mode="rb")
        self._name = name

    def next(self) -> tuple[str, int] | None:
        """Path and size of the next file; None at the end of the archive."""
        header = self._exactly(_BLOCK)
        if header == _END:
            return None
        try:
            info = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
        except (tarfile.TarError, ValueError) as error:
            raise damaged(self._name, f"a header in it cannot be read ({error})") from error
        if info.type != tarfile.REGTYPE:
            raise damaged(self._name, f"{info.name!r} in it is a link, a folder or a device, not a file")
        if info.size < 0:
            raise damaged(self._name, f"{info.name!r} in it has a size below 0")
        return info.name, info.size

    def copy(self, size: int, *sinks: Sink) -> None:
        """The content of the file that `next` returned, into each sink."""
        left = size
        while left:
            chunk = self._exactly(min(left, _CHUNK))
            for sink in sinks:
                sink.write(chunk)
            left -= len(chunk)
        if self._exactly(-size % _BLOCK).strip(b"\0"):
            raise damaged(self._name, "there is something between two of its files")

    def end(self) -> None:
        """See that nothing follows."""
        rest = self._read(_MOST_PADDING + 1)
        if len(rest) > _MOST_PADDING or rest.strip(b"\0"):
            raise damaged(self._name, "something follows after its end")

    def _exactly(self, size: int) -> bytes:
        content = self._read(size)
        if len(content) < size:
            raise damaged(self._name, "it is cut off")
        return content

    def _read(self, size: int) -> bytes:
        try:
            return self._gzip.read(size)
        except EOFError as error:
            raise damaged(self._name, "it is cut off") from error
        except gzip.BadGzipFile as error:
            if self._gzip.tell() == 0:
                raise foreign(self._name) from error
            raise damaged(self._name, str(error)) from error
        except zlib.error as error:
            raise damaged(self._name, str(error)) from error


@contextmanager
def reading(path: Path) -> Iterator[ArchiveReader]:
    """Raises OSError when there is no such file."""
    with path.open("rb") as file:
        yield ArchiveReader(file, str(path))
