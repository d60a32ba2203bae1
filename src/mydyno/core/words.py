"""Lists of names, written one after another."""

from __future__ import annotations

from collections.abc import Set


def words(text: str) -> Set[str]:
    """A set that keeps their order: `words("a b")`."""
    return dict.fromkeys(text.split()).keys()
