"""The channel to an agent: one byte stream that carries requests, replies and many streams at once.

One thread reads, writes and pumps; it never waits for anything but the files themselves, so neither
a slow reader here nor a slow guest there stops the other streams. A caller waits in their own
thread. When the channel ends, everybody who waits gets a HostError with the end of the console.
"""

import json
import os
import re
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from mydyno.core.errors import HostError
from mydyno.machine import frames
from mydyno.machine.streams import Stream, credit

# Bytes that are read or written at once.
_PORTION = 1 << 18

# What a guest on a busy machine may take for a single reply; a command has its own limit.
_REPLY_SECONDS = 60.0
_LINES = 12

UNANSWERED = 4
"""Pings in a row, without a byte from the agent, after which the host is lost. They are counted instead of
the time: a mydyno that was stopped meanwhile has sent none, and reads what has come before it counts on."""

# Functions and stack words that a kernel lists as it dies.
_TRACE = re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+|^\s*[0-9a-f]{8,16}( [0-9a-f]{8,16})+\s*$|Call Trace:|^Stack:")


class _SilentError(Exception):
    """Nothing comes from the agent any more."""


@dataclass
class _Waiting:
    content: bytearray = field(default_factory=bytearray)
    reply: dict[str, Any] | None = None


class Channel:
    """Takes over the descriptors `reader` and `writer` (which may be one) of a stream to an agent."""

    def __init__(
        self,
        reader: int,
        writer: int,
        *,
        name: str,
        console: Callable[[], str],
        alive_seconds: float | None = None,
    ) -> None:
        """`name` is the host's, for messages; `console` gives what the guest has said outside the channel.

        `alive_seconds`: between two pings. The agent ends when it hears nothing, and the host is lost when
        UNANSWERED of them bring nothing: a far side may go silent without an end of its stream.
        """
        self._reader, self._writer = reader, writer
        self._name = name
        self._console = console
        self._alive_seconds = alive_seconds
        # A far side that is silent is found by its pings, before a reply is missed.
        self._reply_seconds = max(_REPLY_SECONDS, 2 * UNANSWERED * (alive_seconds or 0.0))
        self._pinged_at = time.monotonic()
        self._unanswered = 0
        self._changed = threading.Condition()
        self._outgoing = bytearray()
        self._window: int | None = None
        self._decoder = frames.Decoder()
        self._hello: frames.Hello | None = None
        self._lost: HostError | None = None
        self._last_number = 0
        self._waiting: dict[int, _Waiting] = {}
        self._endings: dict[int, frames.Ending] = {}
        self._streams: dict[int, Stream] = {}
        self._closing = False
        self._woken, self._wake = os.pipe()
        for file in (reader, writer, self._woken, self._wake):
            os.set_blocking(file, False)
        self._thread = threading.Thread(target=self._serve, name=f"channel to {name}", daemon=True)
        self._thread.start()

    def hello(self, seconds: float) -> frames.Hello:
        """Waits for the agent. Raises HostError with the console's end when it does not come."""
        if not self.wait(lambda: self._hello is not None, seconds):
            raise HostError(f"the host {self._name} did not answer within {seconds:g} s{self._output()}")
        assert self._hello is not None
        return self._hello

    def new_number(self) -> int:
        with self._changed:
            self._last_number += 1
            return self._last_number

    def attach(self, make: Callable[[int, Callable[[frames.Frame], None]], Stream]) -> Stream:
        """A new stream; `make` gets its number and what sends its frames."""
        number = self.new_number()
        with self._changed:
            self._raise_if_lost()
            stream = self._streams[number] = make(number, self._push)
            self._wake_up()
            return stream

    def detach(self, *streams: Stream) -> None:
        """Lets go of streams whose request has failed."""
        with self._changed:
            for stream in streams:
                stream.close()
                self._streams.pop(stream.number, None)

    def expect_ending(self, number: int) -> frames.Ending:
        """How the process of the request `number` will have ended; to be requested before it is started."""
        with self._changed:
            ending = self._endings[number] = frames.Ending()
            return ending

    def request(
        self, do: str, *, number: int | None = None, content: bytes | None = None, **arguments: Any
    ) -> frames.Answer:
        """Asks and waits for the reply.

        Raises OSError as the system there does, NoProgramError, HostError.
        """
        number = self.new_number() if number is None else number
        body = {"do": do, **arguments, **({} if content is None else {"bytes": len(content)})}
        waiting = _Waiting()
        with self._changed:
            self._raise_if_lost()
            self._waiting[number] = waiting
            self._push(frames.Frame(frames.Kind.REQUEST, number, json.dumps(body).encode()))
            for start in range(0, len(content or b""), frames.PIECE):
                self._push(
                    frames.Frame(frames.Kind.CONTENT, number, (content or b"")[start : start + frames.PIECE])
                )
            self._wake_up()
        try:
            if not self.wait(lambda: waiting.reply is not None, self._reply_seconds):
                raise HostError(
                    f"the host {self._name} did not answer to {do} within {self._reply_seconds:g} s"
                    f"{self._output()}"
                )
        finally:
            with self._changed:
                self._waiting.pop(number, None)
        assert waiting.reply is not None
        if (refusal := waiting.reply.get("error")) is not None:
            kind = frames.NoProgramError if refusal.get("program") else OSError
            raise kind(refusal["errno"], os.strerror(refusal["errno"]))
        return frames.Answer(waiting.reply["ok"], bytes(waiting.content))

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Waits until the condition holds; False after `seconds`. Raises HostError when the host is lost."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not condition():
                self._raise_if_lost()
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
            return True

    def close(self) -> None:
        """Ends the channel: the agent ends with it. May be called twice."""
        with self._changed:
            self._closing = True
            self._wake_up()
        self._thread.join()

    def _raise_if_lost(self) -> None:
        if self._lost is not None:
            # A fresh one each time: raising adds a traceback to the error.
            raise HostError(self._lost.message, self._lost.hint)

    def _push(self, frame: frames.Frame) -> None:
        self._outgoing += frame.encoded()

    def _wake_up(self) -> None:
        if self._lost is None:
            # A full pipe has woken it often enough.
            with suppress(BlockingIOError):
                os.write(self._wake, b"!")

    def _serve(self) -> None:
        reason = "its connection was closed"
        try:
            while not self._closing:
                if not self._turn():
                    break
        except frames.MalformedError as error:
            reason = f"it does not speak the agent's protocol ({error})"
        except _SilentError as error:
            reason = str(error)
        except ConnectionError:
            pass
        except OSError as error:
            reason = f"the channel broke ({error.strerror})"
        with self._changed:
            what = "was closed" if self._closing else f"was lost: {reason}"
            self._lost = HostError(f"the host {self._name} {what}{'' if self._closing else self._output()}")
            for stream in self._streams.values():
                stream.close()
            self._streams.clear()
            for file in {self._reader, self._writer, self._woken, self._wake}:
                os.close(file)
            self._changed.notify_all()

    def _turn(self) -> bool:
        """Waits for something to do and does it; False when the other side has ended."""
        poll = select.poll()
        with self._changed:
            interests = {self._woken: select.POLLIN, self._reader: select.POLLIN}
            if self._outgoing and self._window != 0:
                interests[self._writer] = interests.get(self._writer, 0) | select.POLLOUT
            streams = {
                stream.file: stream
                for stream in self._streams.values()
                if stream.file is not None and stream.wanted()
            }
        for file, interest in interests.items():
            poll.register(file, interest)
        for file, stream in streams.items():
            poll.register(file, stream.wanted())
        wait = None if self._alive_seconds is None else 1000 * self._alive_seconds
        ready = dict(poll.poll(wait))
        with self._changed:
            if self._woken in ready:
                os.read(self._woken, 4096)
            for file, stream in streams.items():
                if file in ready and stream.file == file:
                    stream.move_bytes(ready[file])
                    self._forget_if_over(stream)
            if ready.get(self._writer, 0) & select.POLLOUT:
                self._write()
            readable = self._reader in ready and ready[self._reader] != select.POLLOUT
            if readable and not self._receive():
                return False
            self._ping()
        return True

    def _ping(self) -> None:
        """A request whose reply is not waited for: any byte of the agent's shows that it lives.

        Its thread that answers does nothing that takes long, whatever else it is busy with. Raises
        _SilentError.
        """
        now = time.monotonic()
        if self._alive_seconds is None or self._hello is None or now - self._pinged_at < self._alive_seconds:
            return
        if self._unanswered == UNANSWERED:
            raise _SilentError(f"nothing came from it for {UNANSWERED * self._alive_seconds:g} s")
        self._unanswered += 1
        self._pinged_at = now
        self._last_number += 1
        self._push(frames.Frame(frames.Kind.REQUEST, self._last_number, b'{"do": "clock"}'))

    def _write(self) -> None:
        with suppress(BlockingIOError):
            portion = _PORTION if self._window is None else min(self._window, _PORTION)
            count = os.write(self._writer, bytes(self._outgoing[:portion]))
            del self._outgoing[:count]
            if self._window is not None:
                self._window -= count

    def _receive(self) -> bool:
        try:
            data = os.read(self._reader, _PORTION)
        except BlockingIOError:
            return True
        if not data:
            return False
        self._unanswered = 0
        for frame in self._decoder.feed(data):
            self._take(frame)
        self._changed.notify_all()
        return True

    def _take(self, frame: frames.Frame) -> None:
        match frame.kind:
            case frames.Kind.HELLO:
                fields = _fields(frame)
                self._hello = frames.Hello(fields["kernel"], fields["cpus"], fields["memory_bytes"])
                self._window = fields["window"]
            case frames.Kind.CONTENT if (waiting := self._waiting.get(frame.number)) is not None:
                waiting.content += frame.payload
            case frames.Kind.REPLY if (waiting := self._waiting.get(frame.number)) is not None:
                waiting.reply = _fields(frame)
            case frames.Kind.EXIT if (ending := self._endings.pop(frame.number, None)) is not None:
                ending.code = int(_fields(frame)["code"])
            case frames.Kind.CREDIT if frame.number == 0 and self._window is not None:
                self._window += credit(frame.payload)
            case frames.Kind.DATA | frames.Kind.END | frames.Kind.CREDIT | frames.Kind.DISCARD:
                self._take_for_stream(frame)

    def _take_for_stream(self, frame: frames.Frame) -> None:
        stream = self._streams.get(frame.number)
        if stream is None:
            return
        match frame.kind:
            case frames.Kind.DATA:
                stream.receive(frame.payload)
            case frames.Kind.END:
                stream.end()
            case frames.Kind.CREDIT:
                stream.grant(frame.payload)
            case _:
                stream.discard()
        self._forget_if_over(stream)

    def _forget_if_over(self, stream: Stream) -> None:
        if stream.is_over:
            stream.close()
            self._streams.pop(stream.number, None)

    def _output(self) -> str:
        lines = telling_end(self._console())
        return "".join(["; its console ends:", *(f"\n    {line}" for line in lines)]) if lines else ""


def _fields(frame: frames.Frame) -> dict[str, Any]:
    try:
        fields: dict[str, Any] = json.loads(frame.payload)
    except ValueError as error:
        raise frames.MalformedError(f"a {frame.kind.name} that is not JSON") from error
    return fields


def telling_end(console: str) -> list[str]:
    """The last lines, without the addresses that a kernel lists as it dies."""
    return [line for line in console.splitlines() if line.strip() and not _TRACE.search(line)][-_LINES:]
