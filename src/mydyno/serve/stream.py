"""The events of a run as server-sent events (WHATWG HTML, 9.2), each with its number as its id.

A reader takes what it can take: what it has not read yet stays in the run's file, not in memory. So it does
not matter how many there are, how slow they are, or how long the run is.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Receive, Scope, Send

from mydyno.serve.events_file import EventsFile, Place

_LOOK_S = 0.5
"""Between two looks at the file."""
_ALIVE_S = 15.0
"""After so long without an event a comment is sent, so that no proxy ends the connection."""
_STUCK_S = 60.0
"""A reader that takes nothing for so long is left; its browser comes again."""
_CHUNK = 64 * 1024
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    # nginx must not collect events before it passes them on (its manual, proxy_buffering).
    (b"x-accel-buffering", b"no"),
]


def framed(lines: list[bytes], last: int) -> bytes:
    """Events as they are sent; `last`: the number of the last of them."""
    first = last - len(lines) + 1
    numbered = enumerate(map(_one_line, lines), first)
    return b"".join(b"id: %d\ndata: %s\n\n" % (number, line) for number, line in numbered)


def _one_line(line: bytes) -> bytes:
    """A carriage return would end the line of an event."""
    return line.replace(b"\r", b" ")


def number_of(last_event_id: str | None, after: str | None) -> int:
    """The event that a page has last: the browser knows better than the address that it was given. 0 where
    neither is a number."""
    for text in (last_event_id, after):
        if text is not None and text.isascii() and text.isdecimal() and len(text) < 16:
            return int(text)
    return 0


@dataclass(frozen=True)
class EventStream:
    """A response that goes on until the reader has gone or `closing` is true."""

    file: EventsFile
    after: int
    closing: Callable[[], bool]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(_gone(receive))
        sending = asyncio.ensure_future(self._send(send))
        try:
            await asyncio.wait((gone, sending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, sending):
                task.cancel()
            for task in (gone, sending):
                # A reader that has gone is no error, and one that is stuck is left.
                with contextlib.suppress(asyncio.CancelledError, OSError, TimeoutError):
                    await task

    async def _send(self, send: Send) -> None:
        async def say(text: bytes, more: bool = True) -> None:
            message = {"type": "http.response.body", "body": text, "more_body": more}
            await asyncio.wait_for(send(message), _STUCK_S)

        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await say(b"retry: 2000\n\n")
        place = await asyncio.to_thread(self.file.after, self.after)
        if place is None:
            # The page has seen events that are not there: it shows another run than this one.
            await say(b"event: reset\ndata:\n\n", more=False)
            return
        spoken = time.monotonic()
        while not self.closing():
            text = self._next(place)
            if text is None:
                await say(b"event: reset\ndata:\n\n", more=False)
                return
            if text:
                await say(text)
                spoken = time.monotonic()
                continue
            if time.monotonic() - spoken > _ALIVE_S:
                await say(b": alive\n\n")
                spoken = time.monotonic()
            await asyncio.sleep(_LOOK_S)
        await say(b"", more=False)

    def _next(self, place: Place) -> bytes | None:
        """What follows `place`, nothing where nothing has come; None where the file has become shorter."""
        size = self.file.size()
        if size == place.offset:
            return b""
        if size < place.offset:
            # A lab that is not there just now comes back as it was.
            return None if size else b""
        lines = self.file.lines(place, _CHUNK)
        return framed(lines, place.number)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
