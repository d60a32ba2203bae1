"""A YAML document as plain values that remember where they stand in the file.

Trees are never changed: an overlay gives a new tree that shares what it does not touch, and each
value keeps the position of the line that it really came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from mydyno.core.document.problems import Position

Plain: TypeAlias = JsonValue
Location: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Scalar:
    """A single value, with the text that the author wrote."""

    value: str | int | float | bool | None
    text: str
    position: Position

    def plain(self) -> Plain:
        return self.value

    def describe(self) -> str:
        return self.text


@dataclass(frozen=True)
class Sequence:
    items: tuple[Node, ...]
    position: Position

    def plain(self) -> Plain:
        return [item.plain() for item in self.items]

    def describe(self) -> str:
        return "[" + ", ".join(item.describe() for item in self.items) + "]"


@dataclass(frozen=True)
class Entry:
    """A key's place and its value."""

    key: Position
    value: Node


@dataclass(frozen=True)
class Mapping:
    entries: dict[str, Entry]
    position: Position

    def plain(self) -> dict[str, Plain]:
        return {key: entry.value.plain() for key, entry in self.entries.items()}

    def describe(self) -> str:
        return (
            "{" + ", ".join(f"{key}: {entry.value.describe()}" for key, entry in self.entries.items()) + "}"
        )

    def get(self, key: str) -> Node | None:
        entry = self.entries.get(key)
        return entry.value if entry else None


Node: TypeAlias = Scalar | Sequence | Mapping


@dataclass(frozen=True)
class Spot:
    """What is at a location: the key's own place, where there is a key, and the value."""

    key: Position
    node: Node


def locate(root: Mapping, location: Location) -> Spot:
    """The deepest node on the way to `location` that exists; steps that lead nowhere are passed over."""
    spot = Spot(root.position, root)
    for step in location:
        if isinstance(spot.node, Mapping) and str(step) in spot.node.entries:
            entry = spot.node.entries[str(step)]
            spot = Spot(entry.key, entry.value)
        elif isinstance(spot.node, Sequence) and isinstance(step, int) and step < len(spot.node.items):
            item = spot.node.items[step]
            spot = Spot(item.position, item)
    return spot


def find(root: Mapping, location: Location) -> Node | None:
    """The value at exactly `location`, or None."""
    node: Node = root
    for step in location:
        if isinstance(node, Mapping) and str(step) in node.entries:
            node = node.entries[str(step)].value
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


def overlay(root: Mapping, location: Location, entry: Entry) -> Mapping:
    """`root` with `entry` at `location`; mappings on the way are made where there are none."""
    first, rest = str(location[0]), location[1:]
    if not rest:
        return Mapping({**root.entries, first: entry}, root.position)
    existing = root.entries.get(first)
    if existing is not None and isinstance(existing.value, Mapping):
        below = Entry(existing.key, overlay(existing.value, rest, entry))
    else:
        below = Entry(entry.key, overlay(Mapping({}, entry.value.position), rest, entry))
    return Mapping({**root.entries, first: below}, root.position)


def walk(node: Node, location: Location = ()) -> Iterator[tuple[Location, Node]]:
    """Every node below and including `node`, with its location."""
    yield location, node
    if isinstance(node, Mapping):
        for key, entry in node.entries.items():
            yield from walk(entry.value, (*location, key))
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            yield from walk(item, (*location, index))
