"""Streams of a channel, on mydyno's side: each with a window, so that a slow reader holds up only its own.

All of this runs in the channel's one thread; nothing here waits.
"""

import os
import select
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from mydyno.machine.frames import PIECE, WINDOW, Frame, Kind, MalformedError

Send = Callable[[Frame], None]


def credit(payload: bytes) -> int:
    """Bytes that a frame of credit grants. Raises MalformedError."""
    if len(payload) != 4:
        raise MalformedError("credit that is not a number")
    return int.from_bytes(payload, "little")


class Stream:
    """One stream. `file` is the channel's end of a pipe or socket pair; without it, what comes is kept."""

    def __init__(self, number: int, send: Send, *, file: int | None, reads: bool, writes: bool) -> None:
        """`reads`: what is read from `file` is sent; `writes`: what comes is written to it, or collected."""
        self.number = number
        self.collected = bytearray()
        self.has_ended = False
        """Whether the other side has sent all that it will."""
        self._send = send
        self.file = file
        self._credit = WINDOW if reads else None
        self._takes = writes
        self._is_socket = reads and writes
        self._pending = bytearray()
        self._used = 0
        if file is not None:
            os.set_blocking(file, False)

    @property
    def is_over(self) -> bool:
        return self._credit is None and not self._takes

    def wanted(self) -> int:
        """What to poll `file` for; 0 when there is nothing to do whatever happens to it."""
        wanted = select.POLLIN if self._credit else 0
        return wanted | (select.POLLOUT if self._pending else 0)

    def move_bytes(self, ready: int) -> None:
        """Moves what can be moved; `ready` is the events of poll for `file`."""
        broken = select.POLLHUP | select.POLLERR
        if self._pending and ready & (select.POLLOUT | broken):
            self._write_pending()
        if self._credit and ready & (select.POLLIN | broken):
            self._read_some()

    def receive(self, data: bytes) -> None:
        """Data has come for this stream."""
        if not self._takes:
            return
        if self.file is None:
            self.collected += data
            self._use(len(data))
        else:
            self._pending += data
            self._write_pending()

    def end(self) -> None:
        """Nothing more comes for this stream."""
        self.has_ended = True
        self._close_sink_when_done()

    def grant(self, payload: bytes) -> None:
        """The other side takes more."""
        if self._credit is not None:
            self._credit += credit(payload)

    def discard(self) -> None:
        """The other side takes nothing more."""
        self._credit = None

    def close(self) -> None:
        """Lets go of the file; the reader of the other end sees it end."""
        self._takes, self._credit = False, None
        if self.file is not None:
            os.close(self.file)
            self.file = None

    def _read_some(self) -> None:
        assert self.file is not None
        assert self._credit is not None
        try:
            data = os.read(self.file, min(self._credit, PIECE))
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._credit -= len(data)
            self._send(Frame(Kind.DATA, self.number, data))
        else:
            self._credit = None
            self._send(Frame(Kind.END, self.number))

    def _write_pending(self) -> None:
        assert self.file is not None
        while self._pending:
            try:
                count = os.write(self.file, self._pending)
            except BlockingIOError:
                return
            except OSError:
                # Nobody reads it any more.
                self._pending.clear()
                self._takes = False
                self._send(Frame(Kind.DISCARD, self.number))
                return
            del self._pending[:count]
            self._use(count)
        self._close_sink_when_done()

    def _close_sink_when_done(self) -> None:
        if not (self.has_ended and self._takes) or self._pending:
            return
        self._takes = False
        if self._is_socket and self.file is not None:
            # Half of a socket ends; the other end may still write.
            with suppress(OSError), socket.socket(fileno=os.dup(self.file)) as end:
                end.shutdown(socket.SHUT_WR)

    def _use(self, count: int) -> None:
        self._used += count
        if self._used >= WINDOW // 2:
            self._send(Frame(Kind.CREDIT, self.number, struct.pack("<I", self._used)))
            self._used = 0
