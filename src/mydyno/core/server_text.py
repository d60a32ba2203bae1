"""Text that a server said, as it may be shown: short, and without what a terminal would obey."""

from __future__ import annotations

from mydyno.core.visible import visible_line

LONGEST = 1000
"""Characters. MySQL's own messages have at most 512 bytes (MYSQL_ERRMSG_SIZE)."""


def one_line(text: str, longest: int = LONGEST) -> str:
    """The text with its control characters written out, cut to `longest` characters."""
    plain = visible_line(text[: longest + 1])
    return plain if len(plain) <= longest else f"{plain[:longest]} ..."
