"""A fact that could not be read."""

from __future__ import annotations

from mydyno.core.record import Record


class Unread(Record):
    what: str
    """In a few words: `the limits of the server's process`."""
    why: str
    """`permission denied`, `performance_schema is off`, `no /sys in this container`."""
    hint: str | None = None
    """What would let it be read: `sudo`, `GRANT PROCESS ON *.* TO ...`."""
