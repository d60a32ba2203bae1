"""What the console of a guest says, cut down to what belongs in an error."""

from __future__ import annotations

import re

_LINES = 12

# Functions and stack words that a kernel lists as it dies.
_TRACE = re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+|^\s*[0-9a-f]{8,16}( [0-9a-f]{8,16})+\s*$|Call Trace:|^Stack:")


def telling_end(console: str) -> list[str]:
    """The last lines, without the addresses that a kernel lists as it dies."""
    return [line for line in console.splitlines() if line.strip() and not _TRACE.search(line)][-_LINES:]
