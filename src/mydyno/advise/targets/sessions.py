"""Buffers of a session: capped where they are too big for anybody, lowered to defaults where memory is short.

The manual warns of large global values (MySQL Reference Manual, sort_buffer_size, join_buffer_size): each
allocation takes the whole size, on Linux noticeably slower above 256K and 2M, and a query may take several.
A single report that needs more sets it for its own session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.facts import Server

KIB = 1 << 10


@dataclass(frozen=True)
class _Buffer:
    too_big: int
    """Above this it is lowered in any case."""
    then: int
    default: int
    mariadb_default: int | None = None

    def small(self, server: Server) -> int:
        own = self.mariadb_default if server.release.is_mariadb else None
        return own or self.default


BUFFERS: Mapping[str, _Buffer] = {
    "sort_buffer_size": _Buffer(4096 * KIB, 2048 * KIB, 256 * KIB, mariadb_default=2048 * KIB),
    "join_buffer_size": _Buffer(4096 * KIB, 2048 * KIB, 256 * KIB),
    "read_buffer_size": _Buffer(2048 * KIB, 1024 * KIB, 128 * KIB),
    "read_rnd_buffer_size": _Buffer(4096 * KIB, 1024 * KIB, 256 * KIB),
}


def capped(server: Server) -> dict[str, int]:
    """What they would be on any machine: as they are, but for those too big for a global value."""
    return {
        name: row.then if now > row.too_big else now
        for name, row in BUFFERS.items()
        if (now := server.number(name)) is not None
    }


def lowered(server: Server, sizes: Mapping[str, int]) -> dict[str, int]:
    """What they would be where memory is short: no larger than this family's defaults."""
    return {name: min(now, BUFFERS[name].small(server)) for name, now in sizes.items()}
