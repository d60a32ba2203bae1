"""Does the server fit into the machine's memory, if every connection takes what it may?

The sum is the classic one: what the server takes once, plus what each connection may take at a time
(MySQL Reference Manual, "How MySQL Uses Memory"); the catalogue knows which variable is which. Only what
the experiment sets is counted, and max_connections with its default when a buffer of a connection is set;
a server's own defaults are small.
"""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.catalogue import catalogue
from mydyno.core.units import format_bytes
from mydyno.plan.point import Point

DEFAULT_MAX_CONNECTIONS = 151
"""Of MySQL since 5.5 and MariaDB."""
TIGHT = 0.9


@dataclass(frozen=True)
class MemorySum:
    """Bytes that the settings of one point may take together."""

    once: tuple[tuple[str, int], ...]
    per_connection: tuple[tuple[str, int], ...]
    max_connections: int

    @property
    def total(self) -> int:
        each = sum(size for _, size in self.per_connection)
        return sum(size for _, size in self.once) + self.max_connections * each

    @property
    def largest(self) -> str | None:
        """The variable that contributes most; None when nothing is set."""
        parts = [*self.once, *((name, size * self.max_connections) for name, size in self.per_connection)]
        return max(parts, key=lambda part: part[1])[0] if parts else None

    def arithmetic(self) -> str:
        """`innodb_buffer_pool_size 20G + 450 connections x (sort_buffer_size 64M) = 48.1G`."""
        parts = [f"{name} {format_bytes(size)}" for name, size in self.once]
        if self.per_connection:
            each = " + ".join(f"{name} {format_bytes(size)}" for name, size in self.per_connection)
            parts.append(f"{self.max_connections} connections x ({each})")
        return f"{' + '.join(parts)} = {format_bytes(self.total)}"


def memory_sum(point: Point) -> MemorySum:
    """The sum for the settings of `point`, whose shares of memory are resolved."""
    config = point.setup.server.config

    def sizes(names: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
        numbers = ((name, config[name].number) for name in names if name in config)
        return tuple((name, int(number)) for name, number in numbers if number is not None and number > 0)

    limit = config["max_connections"].number if "max_connections" in config else None
    return MemorySum(
        once=sizes(catalogue().of_memory("once")),
        per_connection=sizes(catalogue().of_memory("each connection")),
        max_connections=int(limit) if limit is not None else DEFAULT_MAX_CONNECTIONS,
    )
