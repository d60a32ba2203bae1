"""What drives a server: mydyno's own engine as a child process, found, started, listened to, stopped."""

import contextlib
import queue
import subprocess
import threading
from collections.abc import Iterator
from typing import Protocol, Self

from pydantic import ValidationError

from mydyno.core.errors import EngineError, MissingToolError, UsageError
from mydyno.core.plurals import counted
from mydyno.lab.load import messages
from mydyno.lab.load.job import PROTOCOL, Job, SlicedJob
from mydyno.machine.programs import find_program
from mydyno.machine.protocol import Host

NAME = "mydyno-engine"
_STOP_WITHIN_S = 10.0
_KILLED = -9
"""Exit code of a process that SIGKILL has ended, here and as an agent gives it."""
_SILENT_S = 30
"""The engine writes every 5 s (docs/reference/engine-protocol.md): one that is silent so long was stopped."""
_LINES_AHEAD = 1000
"""Lines that are read ahead."""


class Driver(Protocol):
    """One job under way. Iterate over it once, inside `with`, to hear its messages up to Done.

    What cannot be carried out at all is raised as UsageError, MissingToolError or EngineError; what goes
    wrong during a phase is in its PhaseEnd.
    """

    def __iter__(self) -> Iterator[messages.Message]: ...

    def request_stop(self) -> None:
        """Ask for an early end: the running phase is closed and reported as interrupted."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None:
        """Ends everything that was started, whatever happened."""


def engine_version() -> str:
    """The engine's version, as `0.1.0`. Raises MissingToolError when it is missing or does not run."""
    path = find_program(NAME)
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)
    if answer.returncode:
        raise MissingToolError(f"{path} does not run: {answer.stderr.strip()}", "install mydyno again")
    return answer.stdout.strip().removeprefix("mydyno-engine ")


class Engine:
    """One engine process on `host` working on one job; iterate over it to hear its messages.

    It runs in a separate process group, so that Ctrl-C reaches mydyno alone, which then requests the engine
    to stop and still hears the end of the phase. A fatal message is raised as an error.

    With `starts` each phase waits after Connected for `start`, and the end of the run for `finish`.
    """

    def __init__(self, job: Job | SlicedJob, host: Host, *, starts: bool = False) -> None:
        self._process = host.open([str(host.program(NAME)), "run", *(["--starts"] if starts else [])])
        self._write(job.to_wire())
        if not starts:
            self.finish()
        self._lines: queue.Queue[bytes | None] = queue.Queue(_LINES_AHEAD)
        self._closing = threading.Event()
        self._reader = threading.Thread(target=self._read, name="mydyno-engine-output", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def __iter__(self) -> Iterator[messages.Message]:
        finished = False
        while (line := self._next_line()) is not None:
            message = self._parse(line)
            if isinstance(message, messages.Fatal):
                self._process.wait(_STOP_WITHIN_S)
                kind = UsageError if message.code == "bad-job" else EngineError
                raise kind(message.message, message.hint)
            finished = isinstance(message, messages.Done)
            yield message
        code = self._process.wait(_STOP_WITHIN_S)
        if finished:
            return
        if code == _KILLED:
            raise EngineError(
                f"mydyno-engine was killed by SIGKILL before it had finished{self._said()}",
                "by the kernel if memory ran out (see dmesg), or by another user",
            )
        raise EngineError(f"mydyno-engine ended without finishing (exit code {code}){self._said()}")

    def _read(self) -> None:
        with contextlib.suppress(ValueError, OSError):  # Closed while it was read.
            for line in self._process.stdout:
                while not self._closing.is_set():
                    with contextlib.suppress(queue.Full):
                        self._lines.put(line, timeout=1.0)
                        break
        with contextlib.suppress(queue.Full):
            self._lines.put(None, timeout=1.0)

    def _next_line(self) -> bytes | None:
        """None after the last one. Raises EngineError when the engine is silent for too long.

        The silence is counted in short waits, so that a stop of mydyno itself is not taken for the engine's.
        """
        for _ in range(_SILENT_S):
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=1.0)
        self._process.kill()
        raise EngineError(
            f"mydyno-engine has sent no message for {_SILENT_S} s, not even that it is alive, and was killed"
            f"{self._said()}",
            "was it stopped (SIGSTOP, a debugger, a frozen cgroup), or is this machine out of memory?",
        )

    def _parse(self, line: bytes) -> messages.Message:
        try:
            message = messages.parse(line)
        except ValidationError as error:
            raise EngineError(
                f"mydyno-engine sent a message that this mydyno does not understand: {line[:200]!r}"
                f" ({counted(error.error_count(), 'problem')}, first: {error.errors()[0]['msg']})",
                "mydyno and mydyno-engine come from different releases: install them together",
            ) from None
        if isinstance(message, messages.Hello) and message.protocol != PROTOCOL:
            raise EngineError(
                f"mydyno-engine speaks protocol {message.protocol}, this mydyno speaks {PROTOCOL}",
                "install both from the same release",
            )
        return message

    def _said(self) -> str:
        text = self._process.errors().strip()
        return f": {text[-500:]}" if text else ""

    def start(self, at_ns: int) -> None:
        """Starts the load of the phase that waits, at an instant of the engine's clock."""
        self._write(str(at_ns))

    def finish(self) -> None:
        """No start follows. May be called twice."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def _write(self, line: str) -> None:
        # An engine that dies at once closes the pipe; what it said is found when it is listened to.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def request_stop(self) -> None:
        """Ask for an early end: the running phase is closed and reported as interrupted."""
        self._process.terminate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.request_stop()
        self._closing.set()
        self._process.wait(_STOP_WITHIN_S)
        self._process.kill()
        self._reader.join(_STOP_WITHIN_S)
        self._process.stdout.close()
        self._process.close()
