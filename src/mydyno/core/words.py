"""Lists of names, written one after another."""

from collections.abc import Set


def words(text: str) -> Set[str]:
    """A set that keeps their order: `words("a b")`."""
    return dict.fromkeys(text.split()).keys()
