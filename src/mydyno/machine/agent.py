"""A host that an agent serves: every method of `Host`, over one channel."""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mydyno.core.errors import HostError, MissingToolError, ServerError
from mydyno.core.facts import HostFacts
from mydyno.core.writing import writing
from mydyno.machine.agent_process import KILLED_WITHIN_SECONDS, AgentConversation, AgentMemory, AgentProcess
from mydyno.machine.channel import Channel
from mydyno.machine.environment import Environment, Place, environment_of, facts_of
from mydyno.machine.frames import Hello, NoProgramError
from mydyno.machine.identity import Identity
from mydyno.machine.programs import bare_environment, find_program
from mydyno.machine.protocol import Finished, HeldFile, Host
from mydyno.machine.streams import Stream


class AgentHost(Host):
    """A place that an agent serves: a guest, or private namespaces of this machine."""

    def __init__(
        self,
        channel: Channel,
        *,
        name: str,
        ephemeral: bool,
        server_identity: Identity | None,
        environment: Mapping[str, str] | None = None,
        programs: Callable[[str], Path] = find_program,
        ready_seconds: float = 30.0,
    ) -> None:
        """Waits for the agent. `environment` is what commands see (default: bare); `programs` says where
        mydyno's own programs are on that host. Raises HostError with the console's end."""
        self.name = name
        self.ephemeral = ephemeral
        self._channel = channel
        self.server_identity = server_identity
        self._environment = dict(bare_environment() if environment is None else environment)
        self._programs = programs
        self.hello: Hello = channel.hello(ready_seconds)

    def run(
        self,
        argv: Sequence[str],
        *,
        identity: Identity | None = None,
        stdin: bytes = b"",
        timeout_seconds: float = 60.0,
    ) -> Finished:
        streams = stdout, stderr = self._attach(None, writes=True), self._attach(None, writes=True)
        process = self._start(argv, identity, stdout=stdout, stderr=stderr, content=stdin)
        try:
            if not self._channel.wait(
                lambda: process.ending.code is not None and all(each.has_ended for each in streams),
                timeout_seconds,
            ):
                raise ServerError(f"{argv[0]} did not end within {timeout_seconds:g} s and was killed")
        except BaseException:
            process.kill()
            with suppress(HostError):
                process.wait(KILLED_WITHIN_SECONDS)
            raise
        finally:
            self._channel.detach(*streams)
        out, err = (bytes(each.collected).decode(errors="replace") for each in streams)
        assert process.ending.code is not None
        return Finished(tuple(argv), process.ending.code, out, err)

    def start(
        self,
        argv: Sequence[str],
        *,
        identity: Identity | None = None,
        output: Path,
        held: Sequence[HeldFile] = (),
    ) -> AgentProcess:
        numbers = [each.number for each in held if isinstance(each, AgentMemory)]
        with writing(output):
            return self._start(argv, identity, output=str(output), held=numbers)

    def open(self, argv: Sequence[str], *, identity: Identity | None = None) -> AgentConversation:
        their_input, our_output = os.pipe()
        our_input, their_output = os.pipe()
        stdin = self._attach(their_input, reads=True)
        stdout = self._attach(their_output, writes=True)
        stderr = self._attach(None, writes=True)
        try:
            process = self._start(argv, identity, stdin=stdin, stdout=stdout, stderr=stderr)
        except BaseException:
            os.close(our_output)
            os.close(our_input)
            raise
        return AgentConversation(
            self._channel, process.number, process.pid, process.ending, (our_output, our_input), stderr
        )

    def hold(self, content: bytes) -> HeldFile:
        return AgentMemory(self._channel, content)

    def dial(self, path: Path) -> socket.socket:
        ours, theirs = socket.socketpair()
        stream = self._attach(theirs.detach(), reads=True, writes=True)
        try:
            self._channel.request("dial", path=str(path), stream=stream.number)
        except BaseException:
            self._channel.detach(stream)
            ours.close()
            raise
        return ours

    def program(self, name: str) -> Path:
        return self._programs(name)

    def exists(self, path: Path) -> bool:
        return bool(self._channel.request("exists", path=str(path)).fields["exists"])

    def make_folder(self, path: Path, *, mode: int = 0o700, owner: Identity | None = None) -> None:
        with writing(path):
            self._channel.request("make_folder", path=str(path), mode=mode, owner=_user(owner))

    def remove_tree(self, path: Path) -> None:
        with writing(path):
            self._channel.request("remove_tree", path=str(path))

    def read_text(self, path: Path) -> str | None:
        try:
            return self._channel.request("read", path=str(path)).content.decode(errors="replace")
        except OSError:
            return None

    def write_text(self, path: Path, text: str, *, owner: Identity | None = None) -> None:
        with writing(path):
            self._channel.request(
                "write", path=str(path), mode=0o600, owner=_user(owner), content=text.encode()
            )

    def facts(self, path: Path) -> HostFacts:
        return facts_of(self._read, self.hello.cpus, self._place(path))

    def environment(self, path: Path) -> Environment:
        return environment_of(self._read, self.hello.cpus, self.hello.kernel, self._place(path))

    def clock(self) -> int:
        """Its time of day, in nanoseconds since 1970."""
        return int(self._channel.request("clock").fields["nanoseconds"])

    def power_off(self) -> None:
        """Ends the guest; its agent answers first. Raises HostError when it has gone already."""
        self._channel.request("power_off")

    def close(self) -> None:
        """Ends the channel, and with it the agent and every process that it started."""
        self._channel.close()

    def _start(
        self,
        argv: Sequence[str],
        identity: Identity | None,
        *,
        stdin: Stream | None = None,
        stdout: Stream | None = None,
        stderr: Stream | None = None,
        output: str | None = None,
        held: Sequence[int] = (),
        content: bytes = b"",
    ) -> AgentProcess:
        number = self._channel.new_number()
        ending = self._channel.expect_ending(number)
        try:
            answer = self._channel.request(
                "start",
                number=number,
                content=content,
                argv=list(argv),
                env=self._environment,
                cwd="/",
                user=_user(identity),
                stdin=stdin and stdin.number,
                stdout=stdout and stdout.number,
                stderr=stderr and stderr.number,
                output=output,
                held=list(held),
            )
        except BaseException as error:
            self._channel.detach(*(each for each in (stdin, stdout, stderr) if each is not None))
            if isinstance(error, NoProgramError):
                why = f"{argv[0]} was not found on the host {self.name}, or may not be executed"
                raise MissingToolError(why) from error
            raise
        return AgentProcess(self._channel, number, answer.fields["pid"], ending)

    def _attach(self, file: int | None, *, reads: bool = False, writes: bool = False) -> Stream:
        """A stream to or from `file`; without one what comes is collected."""
        return self._channel.attach(
            lambda number, send: Stream(number, send, file=file, reads=reads, writes=writes)
        )

    def _read(self, path: str) -> str | None:
        return self.read_text(Path(path))

    def _place(self, path: Path) -> Place:
        try:
            fields: Mapping[str, Any] = self._channel.request("place", path=str(path)).fields
        except OSError:
            return Place(path, None, None)
        return Place(Path(fields["path"]), fields["free_bytes"], (fields["major"], fields["minor"]))


def _user(identity: Identity | None) -> dict[str, int] | None:
    return {"uid": identity.uid, "gid": identity.gid} if identity else None
