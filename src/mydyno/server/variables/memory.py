"""What a server may take of memory: what it takes once, plus what each connection may take at a time.

The sum is the classic one (MySQL Reference Manual, "How MySQL Uses Memory"); the catalogue's rows say which
variable is which.
"""

from dataclasses import dataclass

from mydyno.core.units import format_bytes


@dataclass(frozen=True)
class MemorySum:
    """Bytes that a server may take, part by part, largest use of every connection at once."""

    once: tuple[tuple[str, int], ...]
    per_connection: tuple[tuple[str, int], ...]
    max_connections: int

    @property
    def each_connection(self) -> int:
        return sum(size for _, size in self.per_connection)

    @property
    def total(self) -> int:
        return sum(size for _, size in self.once) + self.max_connections * self.each_connection

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
