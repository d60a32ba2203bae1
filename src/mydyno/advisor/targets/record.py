"""The values that several rules must agree on, as they would be on the advised system."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sized:
    """A size, and the arithmetic behind it."""

    bytes: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Targets:
    """None: not to be decided from these facts, leave it. What is well as it is has its present value.

    Every `..._lines` is the arithmetic behind a value, a line each, for a finding's evidence.
    """

    max_connections: int | None = None
    connections_lines: tuple[str, ...] = ()
    buffer_pool_bytes: int | None = None
    """A multiple of what the server rounds to, so that it reads back as it was set."""
    buffer_pool_could_grow: bool = False
    """There is room for a larger pool, but the size of the data is not known, so the pool stays."""
    redo_bytes: int | None = None
    """The whole redo capacity."""
    redo_lines: tuple[str, ...] = ()
    log_buffer_bytes: int | None = None
    log_buffer_lines: tuple[str, ...] = ()
    session_buffers: Mapping[str, int] = field(default_factory=dict)
    """By name: sort_buffer_size, join_buffer_size, read_buffer_size, read_rnd_buffer_size."""
    key_buffer_bytes: int | None = None
    query_cache_bytes: int | None = None
    temporary_table_bytes: int | None = None
    """Of tmp_table_size and max_heap_table_size alike."""
    temporary_lines: tuple[str, ...] = ()
    table_open_cache: int | None = None
    table_definition_cache: int | None = None
    table_lines: tuple[str, ...] = ()
    innodb_open_files: int | None = None
    open_files: int | None = None
    """What the server's process needs: connections, tables, InnoDB's files."""
    open_files_lines: tuple[str, ...] = ()
    memory_lines: tuple[str, ...] = ()
    """The whole budget's arithmetic."""
    usable_bytes: int | None = None
    """What the server may take, after the operating system and other processes."""
    memory_bytes: int | None = None
    """What it may take at most with all of these values."""
    memory_now_bytes: int | None = None
    """What it may take at most as it is set now."""

    @property
    def fits(self) -> bool | None:
        """Whether these values keep the server inside the memory. None: the memory is not known."""
        if self.usable_bytes is None or self.memory_bytes is None:
            return None
        return self.memory_bytes <= self.usable_bytes
