"""Text that a server said, as it may be shown: short, and without what a terminal would obey."""

from __future__ import annotations

LONGEST = 1000
"""Characters. MySQL's own messages have at most 512 bytes (MYSQL_ERRMSG_SIZE)."""


def one_line(text: str, longest: int = LONGEST) -> str:
    """The text with its control characters as blanks, cut to `longest` characters."""
    cut = text[:longest]
    plain = "".join(character if character.isprintable() else " " for character in cut)
    return plain if len(text) <= longest else f"{plain} ..."
