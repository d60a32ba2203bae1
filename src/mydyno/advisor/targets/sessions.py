"""Buffers of a session: capped where they are too big for anybody, lowered where memory is short.

The manual warns of large global values (MySQL Reference Manual, sort_buffer_size, join_buffer_size): each
allocation takes the whole size, on Linux noticeably slower above 256K and 2M, and a query may take several.
A single report that needs more sets it for its own session.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.advisor.targets.steps import down_to
from mydyno.survey.facts import Server

KIB = 1 << 10
_PAGE = 4 * KIB
"""read_buffer_size is kept in multiples of it."""


@dataclass(frozen=True)
class _Buffer:
    most: int
    """What is above this is lowered to it in any case."""
    default: int
    mariadb_default: int | None = None

    def small(self, server: Server) -> int:
        own = self.mariadb_default if server.release.is_mariadb else None
        return own or self.default


BUFFERS: Mapping[str, _Buffer] = {
    "sort_buffer_size": _Buffer(4096 * KIB, 256 * KIB, mariadb_default=2048 * KIB),
    "join_buffer_size": _Buffer(4096 * KIB, 256 * KIB),
    "read_buffer_size": _Buffer(2048 * KIB, 128 * KIB),
    "read_rnd_buffer_size": _Buffer(4096 * KIB, 256 * KIB),
}


def capped(server: Server) -> dict[str, int]:
    """What they would be on any machine: as they are, but for those too big for a global value."""
    return {
        name: min(now, row.most) for name, row in BUFFERS.items() if (now := server.number(name)) is not None
    }


def least_of(server: Server) -> dict[str, int]:
    """What they would be where memory is shortest: no larger than this family's defaults."""
    return {name: min(now, BUFFERS[name].small(server)) for name, now in capped(server).items()}


def lowered(server: Server, sizes: Mapping[str, int], missing: int) -> dict[str, int]:
    """`sizes` with `missing` bytes less in sum, as far as they are above the family's defaults.

    Each gives the same share of what it has above its default, and is written as a round number below that.
    """
    least = least_of(server)
    spare = sum(sizes.values()) - sum(least.values())
    kept = 1 - min(1.0, missing / spare) if spare > 0 else 0.0
    return {
        name: max(least[name], _round(least[name] + (now - least[name]) * kept))
        for name, now in sizes.items()
    }


def _round(size: float) -> int:
    """Rounded down to an eighth of its power of two, in whole pages as servers keep them."""
    return down_to(size, max(_PAGE, (1 << int(size).bit_length()) // 16))
