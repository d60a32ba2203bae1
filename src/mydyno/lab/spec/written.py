"""What a file may write short or bare, made into what the sections say, before paths are laid over it."""

from __future__ import annotations

from dataclasses import replace

from mydyno.core.document.tree import Entry, Location, Mapping, Node, Scalar

_VERSIONS: tuple[Location, ...] = (("setup", "host", "kernel"), ("setup", "server", "release"))
"""Values that are numbers to YAML and texts to people: 5.10 is not 5.1."""
_SHORT: dict[Location, str] = {("setup", "host"): "kind", ("setup", "server", "external"): "dsn"}
"""Sections that may be written as one word, and the key that it stands for: a path may lead below them."""


def spelt_out(tree: Mapping) -> Mapping:
    """The whole document, as `as_written` makes its parts."""
    written = as_written(tree)
    assert isinstance(written, Mapping)
    return written


def as_written(node: Node, at: Location = ()) -> Node:
    """The value at `at` with versions as the text in the file, and words spelt out as sections."""
    if isinstance(node, Scalar):
        if at in _VERSIONS and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return replace(node, value=node.text)
        if at in _SHORT and isinstance(node.value, str):
            return Mapping({_SHORT[at]: Entry(node.position, node)}, node.position)
        return node
    if isinstance(node, Mapping) and any(at == place[: len(at)] for place in (*_VERSIONS, *_SHORT)):
        entries = {
            key: replace(entry, value=as_written(entry.value, (*at, key)))
            for key, entry in node.entries.items()
        }
        return Mapping(entries, node.position)
    return node
