"""What a plan needs to know of the machine that it is made for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HostFacts:
    """Memory and free disk in bytes; CPUs that the process may use. None: could not be read."""

    memory_bytes: int | None
    cpus: int
    free_disk_bytes: int | None
