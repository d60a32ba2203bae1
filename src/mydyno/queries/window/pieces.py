"""What is caught of a file that grows, is renamed and begun again, or cut: pure."""

import re
from dataclasses import dataclass, field

_ENTRY = re.compile(rb"^# (?:Time: |User@Host: )", re.MULTILINE)


@dataclass
class Piece:
    """The bytes from `begin` to `end` of the file with this inode."""

    inode: int
    begin: int
    end: int

    @property
    def bytes(self) -> int:
        return self.end - self.begin


@dataclass
class Pieces:
    """All that was caught, oldest first."""

    all: list[Piece] = field(default_factory=list)
    lost: int = 0
    """Bytes that were caught, and cut off (copied and truncated, as some rotate) before they were read."""

    @property
    def bytes(self) -> int:
        return sum(piece.bytes for piece in self.all)

    def see(self, inode: int, size: int) -> None:
        """What is found at the log's path: the same file, longer, or another one."""
        last = self.all[-1] if self.all else None
        if last is None or last.inode != inode:
            self.all.append(Piece(inode, 0, size))
        elif size < last.end:
            self.lost += last.bytes
            last.begin, last.end = 0, size
        else:
            last.end = size

    def grew(self, inode: int, size: int) -> None:
        """A file that is not at the path any more: its server may have written to it until it was flushed."""
        for piece in self.all:
            if piece.inode == inode and size > piece.end:
                piece.end = size


def begins_at(text: bytes) -> int | None:
    """Where the first entry of `text`, which begins anywhere, begins; None: there is none."""
    entry = _ENTRY.search(text)
    return entry.start() if entry else None


def entries_in(text: bytes) -> int:
    """How many headers there are: each entry has one line that names its user."""
    return text.count(b"\n# User@Host: ") + text.startswith(b"# User@Host: ")
