"""What several rules must agree on, decided once: connections, memory, files. Rules only report it."""

from __future__ import annotations

from dataclasses import dataclass

from mydyno.facts import System


@dataclass(frozen=True)
class Targets:
    """Values that the advised system would have. None: not to be decided from these facts, leave it."""

    max_connections: int | None = None
    buffer_pool_bytes: int | None = None
    redo_bytes: int | None = None
    """The whole redo capacity."""
    log_buffer_bytes: int | None = None
    session_bytes: int | None = None
    """What one connection may take with the advised session buffers."""
    temporary_table_bytes: int | None = None
    table_open_cache: int | None = None
    table_definition_cache: int | None = None
    open_files: int | None = None
    """What the server's process needs: connections, tables, InnoDB's files."""
    memory_lines: tuple[str, ...] = ()
    """The whole budget's arithmetic, a line each, for evidence."""


def targets_of(system: System) -> Targets:
    """The targets for a system."""
    return Targets()
