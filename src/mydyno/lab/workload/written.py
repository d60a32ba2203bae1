"""A workload file and the values written in it, each with its file, line and column.

A workload may extend other files, so that every value keeps its file with its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.document.problems import Position, Problem
from mydyno.core.document.tree import Mapping, Node, Scalar, Sequence
from mydyno.core.nearest import nearest


@dataclass(frozen=True)
class Part:
    """One YAML file: the workload itself or a file that it extends."""

    file: str
    """How messages name it."""
    folder: Path
    """Where files that it names are looked for."""
    text: str
    tree: Mapping

    @property
    def root(self) -> Written:
        return Written(self, self.tree, self.tree.position)


class Wrong(Exception):  # noqa: N818  (it carries a problem to where problems are gathered)
    """Something that ends the reading of one value, but not that of the file."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Gathered:
    """The problems of one reading."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    @contextmanager
    def here(self) -> Iterator[None]:
        """Keeps what is wrong inside the block and goes on after it."""
        try:
            yield
        except Wrong as wrong:
            self.problems.append(wrong.problem)

    def add(self, *wrong: Wrong) -> None:
        self.problems += (each.problem for each in wrong)


@dataclass(frozen=True)
class Written:
    """A value of a file."""

    part: Part
    node: Node
    key: Position
    """The place of the key in front of it, or its own."""

    @property
    def position(self) -> Position:
        return self.node.position

    @property
    def scalar(self) -> str | int | float | bool | None:
        """The single value, None for anything else."""
        return self.node.value if isinstance(self.node, Scalar) else None

    @property
    def text(self) -> str | None:
        return self.node.value if isinstance(self.node, Scalar) and isinstance(self.node.value, str) else None

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, Mapping)

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, Sequence)

    def describe(self) -> str:
        return self.node.describe()

    def get(self, key: str) -> Written | None:
        """The value of `key`; None when there is none."""
        entry = self.node.entries.get(key) if isinstance(self.node, Mapping) else None
        return Written(self.part, entry.value, entry.key) if entry else None

    def entries(self, what: str) -> dict[str, Written]:
        """The values of a mapping. Raises Wrong, calling it `what`, when it is none."""
        if not isinstance(self.node, Mapping):
            raise self.wrong(f"{what} is not a mapping", allowed="NAME: VALUE pairs")
        return {name: Written(self.part, entry.value, entry.key) for name, entry in self.node.entries.items()}

    def items(self, what: str) -> tuple[Written, ...]:
        """The values of a list. Raises Wrong, calling it `what`, when it is none."""
        if not isinstance(self.node, Sequence):
            raise self.wrong(f"{what} is not a list", allowed="a list, as `- ...` lines or [...]")
        return tuple(Written(self.part, item, item.position) for item in self.node.items)

    def text_of(self, what: str) -> str:
        """The text. Raises Wrong, calling it `what`, when it is none or empty."""
        text = self.text
        if text is None or not text.strip():
            raise self.wrong(f"{what} is not a text", allowed="a text")
        return text

    def only(self, keys: Iterable[str], what: str) -> Iterator[Wrong]:
        """A complaint for each key of the mapping that is none of `keys`."""
        known = tuple(keys)
        for key, entry in self.node.entries.items() if isinstance(self.node, Mapping) else ():
            if key not in known:
                yield self.at(entry.key, f"{what}: unknown key", key, ", ".join(known), nearest(key, known))

    def wrong(
        self, message: str, allowed: str | None = None, nearest: str | None = None, *, show: bool = True
    ) -> Wrong:
        """A complaint that points at the value and shows it."""
        return self.at(self.position, message, self.describe() if show else None, allowed, nearest)

    def wrong_key(self, message: str, allowed: str | None = None, nearest: str | None = None) -> Wrong:
        """A complaint that points at the key."""
        return self.at(self.key, message, None, allowed, nearest)

    def at(
        self,
        place: Position | int,
        message: str,
        value: str | None = None,
        allowed: str | None = None,
        nearest: str | None = None,
    ) -> Wrong:
        """A complaint that points at a place of the file, or at one character of the text."""
        position = self.place(place) if isinstance(place, int) else place
        return Wrong(Problem(self.part.file, position, message, value, allowed, nearest))

    def place(self, offset: int) -> Position:
        """Where the character `offset` of the text is; the start of the text when that is not known.

        YAML folds lines and resolves escapes, so that only text which is in the file as it is has exact
        places: plain and quoted text on one line, and the lines of a `|` block.
        """
        text = self.text
        lines = self.part.text.split("\n")
        here = self.position
        if text is None or here.line > len(lines):
            return here
        line = lines[here.line - 1]
        start = here.column - 1
        opening = line[start : start + 1]
        if opening in "|>":
            return self._place_in_block(text, offset, lines)
        start += opening in ("'", '"')
        if line[start : start + len(text)] == text:
            return Position(here.line, start + offset + 1)
        return here

    def _place_in_block(self, text: str, offset: int, lines: list[str]) -> Position:
        before = text[:offset]
        number = self.position.line + before.count("\n")
        wanted = text.split("\n")[before.count("\n")]
        if number >= len(lines) or lines[number].strip() != wanted.strip() or not wanted.strip():
            return self.position
        indentation = lines[number].index(wanted)
        return Position(number + 1, indentation + len(before) - (before.rfind("\n") + 1) + 1)
