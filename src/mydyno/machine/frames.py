"""Frames: the pieces that the agent's byte stream is cut into (docs/reference/agent-protocol.md)."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

GREETING = b"\nmydyno-agent 1\n"

LONGEST = 1 << 20
"""Bytes of the largest payload."""

PIECE = 32 << 10
"""Payload bytes that data is cut to, so that no frame holds up the others for long."""

WINDOW = 256 << 10
"""Bytes of a stream that may be under way in one direction."""

_HEADER = struct.Struct("<IBI")

# What a console may say before the greeting; with more than that it is not an agent.
_LONGEST_NOISE = 1 << 20


class Kind(IntEnum):
    HELLO = 1
    REQUEST = 2
    REPLY = 3
    CONTENT = 4
    EXIT = 5
    DATA = 6
    END = 7
    CREDIT = 8
    DISCARD = 9


@dataclass(frozen=True)
class Frame:
    """`number` is that of a request, of the process that it started, or of a stream."""

    kind: Kind
    number: int
    payload: bytes = b""

    def encoded(self) -> bytes:
        return _HEADER.pack(len(self.payload), self.kind, self.number) + self.payload


class MalformedError(Exception):
    """The other side does not keep to the protocol."""


class Decoder:
    """Cuts what was read into frames, however it was split on the way; skips all before the greeting."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._greeted = False

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are whole now. Raises MalformedError."""
        self._buffer += data
        if not self._greeted and not self._skip_to_greeting():
            return []
        frames = []
        start = 0
        while len(self._buffer) - start >= _HEADER.size:
            length, kind, number = _HEADER.unpack_from(self._buffer, start)
            if length > LONGEST:
                raise MalformedError(f"a payload of {length} bytes")
            if kind not in Kind.__members__.values():
                raise MalformedError(f"frame kind {kind}")
            payload = start + _HEADER.size
            if len(self._buffer) < payload + length:
                break
            frames.append(Frame(Kind(kind), number, bytes(self._buffer[payload : payload + length])))
            start = payload + length
        del self._buffer[:start]
        return frames

    def _skip_to_greeting(self) -> bool:
        before, greeting, rest = bytes(self._buffer).partition(GREETING)
        if greeting:
            self._buffer = bytearray(rest)
            self._greeted = True
        elif len(before) > _LONGEST_NOISE:
            raise MalformedError("no agent has greeted")
        return self._greeted


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
