"""Files as texts over which edits are laid, one after another; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mydyno.core.errors import MydynoError

ReadBytes = Callable[[str], bytes | None]
"""The bytes of a file; None: there is none."""
ListNames = Callable[[str], Sequence[str] | None]
"""The names in a folder; None: there is none."""


HEADER = "# Written by mydyno apply. `mydyno history` says why, `mydyno rollback` reverts it.\n"
_SWITCHED_OFF = "# mydyno: "


class RefusedError(MydynoError):
    """A change that mydyno does not make by itself: the message says why, the hint what to do instead."""


@dataclass
class Texts:
    """The system's files as they are, and as they would be.

    Bytes outside UTF-8 come through unharmed, as surrogates.
    """

    read: ReadBytes
    names_in: ListNames
    real: Callable[[str], str] = str
    """Where a path leads: a file that is reached by two names (Debian's 99-sysctl.conf) is one text."""
    _new: dict[str, str] = field(default_factory=dict)

    def get(self, path: str) -> str | None:
        """The text as it would be; None: there is no such file."""
        path = self.real(path)
        return self._new[path] if path in self._new else self._old(path)

    def put(self, path: str, text: str) -> None:
        self._new[self.real(path)] = text

    def names(self, folder: str) -> Sequence[str] | None:
        """The names in a folder as it would be, sorted; None: there is no such folder."""
        prefix = self.real(folder).rstrip("/") + "/"
        made = [path.removeprefix(prefix) for path in self._new if path.startswith(prefix)]
        there = self.names_in(folder)
        if there is None and not made:
            return None
        return sorted({*(there or ()), *(name for name in made if "/" not in name)})

    def branch(self) -> Texts:
        """The same texts, to lay edits over that may be thrown away."""
        return Texts(self.read, self.names_in, self.real, dict(self._new))

    def unchanged(self) -> Texts:
        """The texts as they are."""
        return Texts(self.read, self.names_in, self.real)

    def changed(self) -> Mapping[str, tuple[str | None, str]]:
        """Path -> old text and new text, for files whose text would be another."""
        pairs = {path: (self._old(path), new) for path, new in sorted(self._new.items())}
        return {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}

    def _old(self, path: str) -> str | None:
        content = self.read(path)
        return None if content is None else content.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def set_line(text: str | None, starts: str, line: str) -> str:
    """A file of mydyno's in which the line that begins with `starts` is `line`; a new one comes last."""
    lines = (HEADER if text is None else text).splitlines()
    for position, old in enumerate(lines):
        if old.startswith(starts):
            lines[position] = line
            break
    else:
        lines.append(line)
    return "\n".join(lines) + "\n"


def switch_off(texts: Texts, path: str, number: int, because: str) -> None:
    """Makes a comment of one line (counted from 1) of a file that is not mydyno's, and says why above it."""
    text = texts.get(path)
    assert text is not None, "the line has been read from it"
    lines = text.split("\n")
    lines[number - 1 : number] = [f"{_SWITCHED_OFF}{because}", f"#{lines[number - 1]}"]
    texts.put(path, "\n".join(lines))
