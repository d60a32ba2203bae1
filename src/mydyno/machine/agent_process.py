"""Processes, conversations and held files on the agent's side of a channel."""

import os
import signal
from contextlib import suppress
from typing import BinaryIO

from mydyno.core.errors import HostError
from mydyno.machine.channel import Channel
from mydyno.machine.frames import Ending
from mydyno.machine.streams import Stream

KILLED_WITHIN_SECONDS = 10.0
"""A killed process ends at once, unless it hangs in the kernel."""


class AgentProcess:
    """A process that the agent started. Once the host is lost, waiting for it raises HostError."""

    def __init__(self, channel: Channel, number: int, pid: int, ending: Ending) -> None:
        self._channel = channel
        self.number = number
        self.pid = pid
        """As its own host counts."""
        self.ending = ending

    def returncode(self) -> int | None:
        return self.wait(0.0)

    def wait(self, seconds: float) -> int | None:
        self._channel.wait(lambda: self.ending.code is not None, seconds)
        return self.ending.code

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        # On a host that has gone, the process has gone too.
        with suppress(HostError):
            self._channel.request("signal", process=self.number, signal=int(number))


class AgentConversation(AgentProcess):
    """The same with pipes, whose other ends the channel pumps. Its errors are kept in memory."""

    def __init__(
        self, channel: Channel, number: int, pid: int, ending: Ending, pipes: tuple[int, int], errors: Stream
    ) -> None:
        super().__init__(channel, number, pid, ending)
        self.stdin: BinaryIO = os.fdopen(pipes[0], "wb")
        self.stdout: BinaryIO = os.fdopen(pipes[1], "rb")
        self._errors = errors

    def errors(self) -> str:
        if self.ending.code is not None:
            # The last of it may still be under way.
            self._channel.wait(lambda: self._errors.has_ended, KILLED_WITHIN_SECONDS)
        return bytes(self._errors.collected).decode(errors="replace")

    def close(self) -> None:
        if self.ending.code is None:
            self.kill()
        for pipe in (self.stdin, self.stdout):
            # What a dead process has not read cannot be flushed to it any more.
            with suppress(BrokenPipeError):
                pipe.close()
        with suppress(HostError):
            self.wait(KILLED_WITHIN_SECONDS)


class AgentMemory:
    """Anonymous memory on the agent's side."""

    def __init__(self, channel: Channel, content: bytes) -> None:
        self.number = channel.new_number()
        self.channel = channel
        self.path: str = channel.request("hold", number=self.number, content=content).fields["path"]
        self._wiped = False

    def wipe(self) -> None:
        if not self._wiped:
            self._wiped = True
            # With the host its memory has gone.
            with suppress(HostError):
                self.channel.request("wipe", held=self.number)
