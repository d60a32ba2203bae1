"""Drives one load from several machines: an engine on each, and one that samples where the server runs.

Every engine opens its connections and waits; when all of them are open, each gets the same instant on its own
clock. Offsets of clocks are measured again before each phase.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Self

from mydyno.core.errors import EngineError, HostError, MydynoError
from mydyno.core.units import format_duration
from mydyno.lab.load import messages
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.job import Job, Part, Phase
from mydyno.lab.trial.generators.merge import shifted
from mydyno.lab.trial.generators.merger import Merger
from mydyno.machine.agent import AgentHost
from mydyno.machine.hosts.clock import ClockOffset, clock_offset
from mydyno.machine.protocol import Host

_SAMPLER = ""
"""The name of the engine that samples, among those of the hosts."""
_LEAD_S = 0.1
"""From the last measurement of a clock to the start, besides the time that the word takes to each host."""
_JOIN_S = 10.0
MOST_CLOCK_ERROR_S = 0.05
"""Half of a round trip of 0.1 s. With more, the engines could start too far apart."""


@dataclass(frozen=True)
class Generator:
    """A machine that drives a part of the load."""

    name: str
    """In hosts.yaml."""
    host: Host
    beside_server: bool
    """Whether it is the machine that the server runs on."""


def offset_of(host: Host) -> ClockOffset:
    """How far the host's clock is from this machine's. Raises HostError, also when that is not known well."""
    offset = clock_offset(host) if isinstance(host, AgentHost) else ClockOffset(0.0, 0.0)
    refuse_vague(offset, host.name)
    return offset


def refuse_vague(offset: ClockOffset, name: str) -> None:
    """Raises HostError where the clock of the host `name` is not known well enough to start together."""
    if offset.error > MOST_CLOCK_ERROR_S:
        raise HostError(
            f"the clock of {name} is known within {format_duration(offset.error)} only, and engines that "
            f"share a load start together within {format_duration(MOST_CLOCK_ERROR_S)}",
            "use generators that answer faster: `mydyno hosts check` shows the uncertainty of each clock",
        )


@dataclass
class _Voice:
    """One engine: its messages come as they are, and are shifted to the clock of this machine."""

    engine: Engine
    host: Host
    generator: Generator | None
    """None for the one that samples."""
    hello: messages.Hello | None = None
    offset: ClockOffset = field(default_factory=lambda: ClockOffset(0.0, 0.0))
    start_ns: int = 0
    """The instant of the last start, on the engine's clock."""

    def zero_ns(self) -> int:
        """When the engine's clock showed 0, on the clock of this machine."""
        assert self.hello is not None
        return self.hello.started_unix_ns - round(self.offset.seconds * 1e9)


class Generators:
    """One job, shared by the engines of `generators`; `sampling` is that of the server, on its host.

    What ends an engine or its host is raised as EngineError with the host's name.
    """

    def __init__(self, job: Job, generators: Sequence[Generator], sampling: Job, server_host: Host) -> None:
        self._phases = job.phases
        self._merger = Merger([each.name for each in generators])
        self._voices: dict[str, _Voice] = {}
        self._said: queue.Queue[tuple[str, messages.Message | MydynoError]] = queue.Queue(1000)
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []
        self._zero_ns = 0
        self._shares: dict[str, messages.Share] = {}
        """Of the phase under way: what each generator did, once it is over for it."""
        with ExitStack() as failed:
            failed.callback(self._close)
            self._voices[_SAMPLER] = _Voice(Engine(sampling, server_host), server_host, None)
            for number, each in enumerate(generators):
                own = replace(job, sampling=None, part=Part(number, len(generators)))
                self._voices[each.name] = _Voice(_started(each, own), each.host, each)
            failed.pop_all()

    def __iter__(self) -> Iterator[messages.Message]:
        self._voices[_SAMPLER].offset = offset_of(self._voices[_SAMPLER].host)
        for name in self._merger.names:
            self._note_offset(name)
        self._threads = [
            threading.Thread(target=self._listen, args=(name,), name=f"generator {name}", daemon=True)
            for name in self._voices
        ]
        for thread in self._threads:
            thread.start()
        yield from self._greet()
        while len(self._merger.ended) < len(self._merger.names):
            yield from self._hear(*self._next())
        yield from self._last_samples()
        yield self._merger.done()

    def _greet(self) -> Iterator[messages.Message]:
        """Once all have said hello, one clock begins with the first of them."""
        voices = self._voices.values()
        early: list[tuple[str, messages.Message]] = []
        while any(voice.hello is None for voice in voices):
            name, message = self._next()
            if isinstance(message, messages.Hello):
                self._voices[name].hello = message
            elif not isinstance(message, messages.Alive):
                early.append((name, message))
        self._zero_ns = min(voice.zero_ns() for voice in voices)
        sampler = self._voices[_SAMPLER].hello
        for name in self._merger.names:
            voice = self._voices[name]
            assert voice.hello is not None
            assert sampler is not None
            yield from self._hear(
                name,
                voice.hello.model_copy(
                    update={"server_pid": sampler.server_pid, "started_unix_ns": voice.zero_ns()}
                ),
            )
        for name, message in early:
            yield from self._hear(name, message)

    def _hear(self, name: str, message: messages.Message) -> Iterator[messages.Message]:
        voice = self._voices[name]
        if voice.generator is None:
            if isinstance(message, messages.Sample):
                yield self._on_one_clock(voice, message)
            return
        if isinstance(message, messages.PhaseEnd):
            self._shares[name] = share_of(voice.generator, voice, message, self._phases[message.phase])
            if not message.interrupted and (message.aborted or message.measured_from_ns is None):
                # The others need not wait, and no phase follows.
                self._finish()
        for merged in self._merger.hear(name, self._on_one_clock(voice, message)):
            if isinstance(merged, messages.PhaseEnd):
                yield from (self._shares.pop(each) for each in self._merger.names)
            yield merged
            if isinstance(merged, messages.Connected) and not self._merger.ends():
                self._start_all()
            if isinstance(merged, messages.PhaseEnd) and (
                merged.aborted or merged.interrupted or merged.phase == len(self._phases) - 1
            ):
                self._finish()

    def _on_one_clock(self, voice: _Voice, message: messages.Message) -> messages.Message:
        return shifted(message, voice.zero_ns() - self._zero_ns)

    def _start_all(self) -> None:
        """Gives every engine the same instant, on its clock."""
        for name in self._merger.names:
            self._note_offset(name)
        driving = [self._voices[name] for name in self._merger.names]
        longest = max(voice.offset.round_trip for voice in driving)
        at_ns = time.time_ns() + round((_LEAD_S + 2 * longest) * 1e9)
        for voice in driving:
            voice.start_ns = at_ns - voice.zero_ns()
            voice.engine.start(voice.start_ns)

    def _note_offset(self, name: str) -> None:
        with about(name):
            self._voices[name].offset = offset_of(self._voices[name].host)

    def _finish(self) -> None:
        for name in self._merger.names:
            self._voices[name].engine.finish()

    def _last_samples(self) -> Iterator[messages.Message]:
        """The load is over: the sampler takes a last sample and ends."""
        sampler = self._voices[_SAMPLER]
        sampler.engine.request_stop()
        while True:
            name, message = self._next()
            if isinstance(message, messages.Sample):
                yield self._on_one_clock(sampler, message)
            elif name == _SAMPLER and isinstance(message, messages.Done):
                return

    def _listen(self, name: str) -> None:
        """In a thread for each engine."""
        try:
            for message in self._voices[name].engine:
                if self._closing.is_set():
                    return
                self._said.put((name, message))
        except MydynoError as error:
            self._said.put((name, error))

    def _next(self) -> tuple[str, messages.Message]:
        """Raises what an engine has raised. An engine that is silent ends by itself."""
        name, message = self._said.get()
        if isinstance(message, MydynoError):
            raise message if name == _SAMPLER else about_generator(name, message)
        return name, message

    def request_stop(self) -> None:
        """Ask for an early end: the running phase is closed and reported as interrupted."""
        for name in self._merger.names:
            self._voices[name].engine.request_stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        """Ends every engine; one whose host was lost has ended with it."""
        self._closing.set()
        for voice in self._voices.values():
            with suppress(HostError):
                voice.engine.request_stop()
        for thread in self._threads:
            self._forget_messages()
            thread.join(_JOIN_S)
        for voice in self._voices.values():
            with suppress(HostError):
                voice.engine.__exit__()

    def _forget_messages(self) -> None:
        """Room for a thread that waits with a message that is not read any more."""
        with suppress(queue.Empty):
            while True:
                self._said.get_nowait()


def share_of(generator: Generator, voice: _Voice, end: messages.PhaseEnd, phase: Phase) -> messages.Share:
    """What the engine of one host did of a phase; its instants are on its own clock."""
    assert voice.hello is not None
    before_s = phase.ramp_s + phase.work.get("warmup_s", 0.0) if "measure_s" in phase.work else 0.0
    from_ns = end.measured_from_ns
    late_s = None if from_ns is None else (from_ns - voice.start_ns) / 1e9 - before_s
    measure_s = phase.work.get("measure_s")
    short_s = None if measure_s is None else measure_s - (end.measured_s or 0.0)
    return messages.Share(
        t_ns=end.t_ns,
        phase=end.phase,
        host=generator.name,
        connections=end.connections_reached,
        queries=end.queries.count,
        transactions=end.transactions.count,
        threads=min(voice.hello.capacity, end.connections_asked),
        cpu_s=end.client_cpu.user_s + end.client_cpu.system_s,
        machine_busy=None if generator.beside_server else end.machine_busy,
        measured_s=end.measured_s,
        late_s=late_s,
        short_s=short_s,
        clock_error_s=voice.offset.error,
    )


def _started(generator: Generator, job: Job) -> Engine:
    with about(generator.name):
        return Engine(job, generator.host, starts=True)


@contextmanager
def about(name: str) -> Iterator[None]:
    """Errors in it are raised with the name of the generator."""
    try:
        yield
    except MydynoError as error:
        raise about_generator(name, error) from error


def about_generator(name: str, error: MydynoError) -> EngineError:
    return EngineError(f"the generator {name}: {error.message}", error.hint)
