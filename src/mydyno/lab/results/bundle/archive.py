"""The plainest of tar archives, compressed with gzip: regular files with short names, and nothing else.

Read by hand, header by header, since a library unpacks what it finds: links, devices, names of any length.
The layout of a header is that of POSIX ustar ("pax Interchange Format", IEEE Std 1003.1).
"""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from mydyno.core.errors import LabError
from mydyno.lab.results.bundle.manifest import damaged, foreign

_BLOCK = 512
_CHUNK = 1 << 20
_END = bytes(_BLOCK)
_MOST_PADDING = 64 << 10
"""tar fills its last record, of 10,240 bytes as a rule, with zeros."""


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
