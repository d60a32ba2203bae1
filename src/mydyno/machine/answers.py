"""What comes back over a channel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class NoProgramError(OSError):
    """The program to start is not there or may not be executed."""


@dataclass(frozen=True)
class Hello:
    """What the agent reports of its machine."""

    kernel: str
    cpus: int
    memory_bytes: int


@dataclass(frozen=True)
class Answer:
    """What a request gave: the fields of its reply and the content that came with it."""

    fields: Mapping[str, Any]
    content: bytes


@dataclass
class Ending:
    """How a process ended; None: not yet."""

    code: int | None = None
