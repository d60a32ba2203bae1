"""The log as a file, here or on a machine that is reached by ssh."""

import os
import posixpath
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from mydyno.core.errors import HostError
from mydyno.queries.window.pieces import Piece, Pieces, begins_at, entries_in
from mydyno.queries.window.watching import Amount
from mydyno.survey.host.machine import Machine
from mydyno.survey.host.ssh import SshMachine

_BLOCK = 1 << 20
_HEADER_BYTES = len(b"\n# User@Host: ") - 1


class Files(Protocol):
    """The file at the log's path, and those that were there before it."""

    @property
    def name(self) -> str: ...

    def current(self) -> tuple[int, int] | None:
        """Inode and size of the file at the path; None: there is none."""

    def size(self, inode: int) -> int | None:
        """Of a file that was found before, wherever it is now; None: it is gone."""

    def blocks(self, inode: int, begin: int, end: int) -> Iterator[bytes]:
        """Its bytes. Raises HostError when they are not there any more."""

    def room(self) -> int | None: ...

    def close(self) -> None: ...

    @property
    def is_here(self) -> bool:
        """Whether reading costs no network."""


class FileLog:
    """Follows the log from one file to the next."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._pieces = Pieces()
        self._entries = 0
        self._counted = 0
        self._carry = b"\n"

    @property
    def name(self) -> str:
        return self._files.name

    def room(self) -> int | None:
        return self._files.room()

    def begin(self) -> None:
        if (file := self._files.current()) is not None:
            inode, size = file
            self._pieces.all.append(Piece(inode, size, size))

    def amount(self) -> Amount:
        self._update()
        if not self._files.is_here:
            return Amount(self._pieces.bytes, None)
        self._count()
        return Amount(self._pieces.bytes, self._entries)

    def end(self) -> None:
        self._update()

    def settle(self) -> tuple[str, ...]:
        problems = []
        if self._pieces.lost:
            problems.append(
                f"{self.name} was truncated while it was watched: {self._pieces.lost} bytes are lost"
            )
        if not self._pieces.all:
            problems.append(
                f"there is no {self.name}: was it renamed without FLUSH SLOW LOGS? Nothing could be caught"
            )
            return tuple(problems)
        last = self._pieces.all[-1]
        size = self._files.size(last.inode)
        if size is not None and size > last.end:
            # Whole entries only: the last one may have been caught half, and what follows it came too late.
            last.end = self._next_entry(last, size)
        return tuple(problems)

    def blocks(self) -> Iterator[bytes]:
        for piece in self._pieces.all:
            aligned = piece.begin == 0
            for block in self._files.blocks(piece.inode, piece.begin, piece.end):
                if aligned:
                    yield block
                elif (at := begins_at(block)) is not None:
                    aligned = True
                    yield block[at:]

    def close(self) -> None:
        self._files.close()

    def _update(self) -> None:
        for piece in self._pieces.all[:-1]:
            if (size := self._files.size(piece.inode)) is not None:
                self._pieces.grew(piece.inode, size)
        file = self._files.current()
        if file is not None:
            last = self._pieces.all[-1] if self._pieces.all else None
            if last is not None and last.inode != file[0]:
                self._pieces.grew(last.inode, self._files.size(last.inode) or last.end)
            self._pieces.see(*file)

    def _next_entry(self, piece: Piece, size: int) -> int:
        at = piece.end
        for block in self._files.blocks(piece.inode, piece.end, size):
            if (begin := begins_at(block)) is not None:
                return at + begin
            at += len(block)
        return size

    def _count(self) -> None:
        """Headers in what is new of the newest file. A rotation may hide some: it is for the display only."""
        if not self._pieces.all:
            return
        last = self._pieces.all[-1]
        begin = max(last.begin, self._counted if last.begin <= self._counted <= last.end else last.begin)
        for block in self._files.blocks(last.inode, begin, last.end):
            self._entries += entries_in(self._carry + block)
            self._carry = block[-_HEADER_BYTES:]
        self._counted = last.end


class FilesHere:
    """On this machine. Each file stays open, so that it is read even when a rotation has removed it."""

    is_here = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: dict[int, int] = {}

    @property
    def name(self) -> str:
        return str(self._path)

    def current(self) -> tuple[int, int] | None:
        try:
            about = self._path.stat()
            if about.st_ino not in self._open:
                descriptor = os.open(self._path, os.O_RDONLY)
                about = os.fstat(descriptor)
                self._open.setdefault(about.st_ino, descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise HostError(f"{self._path} cannot be read: {error.strerror}") from error
        return about.st_ino, about.st_size

    def size(self, inode: int) -> int | None:
        return os.fstat(self._open[inode]).st_size if inode in self._open else None

    def blocks(self, inode: int, begin: int, end: int) -> Iterator[bytes]:
        while begin < end:
            block = os.pread(self._open[inode], min(_BLOCK, end - begin), begin)
            if not block:
                raise HostError(f"{self._path} was truncated while it was read")
            yield block
            begin += len(block)

    def room(self) -> int | None:
        try:
            about = os.statvfs(self._path.parent)
        except OSError:
            return None
        return about.f_bavail * about.f_frsize

    def close(self) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()


class FilesFar:
    """On a machine that is reached by ssh: looked at now and then, read at the end."""

    is_here = False

    def __init__(self, machine: SshMachine, path: str) -> None:
        self._machine = machine
        self._path = machine.real_path(path)

    @property
    def name(self) -> str:
        return f"{self._machine.name}:{self._path}"

    def current(self) -> tuple[int, int] | None:
        done = self._machine.run(["stat", "-L", "-c", "%i %s", "--", self._path])
        if done is None or done.returncode != 0:
            return None
        inode, size = done.stdout.split()
        return int(inode), int(size)

    def size(self, inode: int) -> int | None:
        done = self._machine.run(["sh", "-c", f'{self._by_inode(inode)} stat -L -c %s -- "$f"'])
        return int(done.stdout) if done is not None and done.returncode == 0 else None

    def blocks(self, inode: int, begin: int, end: int) -> Iterator[bytes]:
        if begin == end:
            return
        line = f'{self._by_inode(inode)} tail -c +{begin + 1} -- "$f" | head -c {end - begin}'
        left = end - begin
        for block in self._machine.blocks(line):
            left -= len(block)
            yield block
        if left:
            raise HostError(f"{self.name} could not be read to its end: {left} bytes are missing")

    def room(self) -> int | None:
        done = self._machine.run(["df", "-Pk", "--", posixpath.dirname(self._path)])
        if done is None or done.returncode != 0:
            return None
        return int(done.stdout.splitlines()[-1].split()[3]) * 1024

    def close(self) -> None:
        """The connection belongs to the caller, who closes it."""

    def _by_inode(self, inode: int) -> str:
        """Finds the file again after it was renamed in its folder."""
        path, folder = shlex.quote(self._path), shlex.quote(posixpath.dirname(self._path))
        return (
            f'f={path}; [ "$(stat -L -c %i -- "$f" 2>/dev/null)" = {inode} ] ||'
            f" f=$(find {folder} -maxdepth 1 -inum {inode} | head -n 1);"
        )


def log_path(variables: Mapping[str, str]) -> str:
    """Where the server writes: a relative name lies in its data directory."""
    return posixpath.join(variables.get("datadir", ""), variables.get("slow_query_log_file", ""))


def files_here(variables: Mapping[str, str], pid: int | None) -> FilesHere | None:
    """The log's file, when this process may read it, or will when the server makes it; else None.

    The server may have another view of the file systems (a container's), which its process leads to.
    """
    plain = Path(log_path(variables))
    path = plain if pid is None else _seen_by(pid, plain)
    try:
        if path.is_file():
            return FilesHere(path) if os.access(path, os.R_OK) else None
        is_to_come = not path.exists() and path.parent.is_dir() and os.geteuid() == 0
    except OSError:
        return None
    return FilesHere(path) if is_to_come else None


def files_far(variables: Mapping[str, str], machine: Machine) -> FilesFar | None:
    """The same on a machine that is reached by ssh."""
    path = shlex.quote(log_path(variables))
    readable = f'[ -f {path} ] && [ -r {path} ] || {{ [ ! -e {path} ] && [ "$(id -u)" = 0 ]; }}'
    done = machine.run(["sh", "-c", readable])
    if not isinstance(machine, SshMachine) or done is None or done.returncode != 0:
        return None
    return FilesFar(machine, log_path(variables))


def _seen_by(pid: int, path: Path) -> Path:
    inside = Path(f"/proc/{pid}/root") / str(path).lstrip("/")
    try:
        if path.parent.is_dir() and path.parent.samefile(inside.parent):
            return path  # It outlives the process.
        return inside if inside.parent.is_dir() else path
    except OSError:  # Another user's process does not show its root.
        return path
