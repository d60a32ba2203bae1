"""Hears every engine of a load and says what one engine would say. Pure: it sees messages only.

A message is said once every engine has said its own; an engine whose phase is over is not waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mydyno.lab.load.messages import (
    Alive,
    Check,
    Connected,
    Done,
    Hello,
    Interval,
    Measuring,
    Message,
    PhaseEnd,
    PhaseStart,
)
from mydyno.lab.trial.generators.merge import added_cpu, merged_end, merged_interval

_EXITS = ("ok", "interrupted", "aborted")
"""From good to bad."""


@dataclass
class Merger:
    """Of engines on the hosts of these names, whose messages come on one clock."""

    names: Sequence[str]
    _hellos: dict[str, Hello] = field(default_factory=dict)
    _dones: dict[str, Done] = field(default_factory=dict)
    _starts: dict[tuple[str, int], dict[str, PhaseStart | Connected | Measuring]] = field(
        default_factory=dict
    )
    """By type and phase."""
    _intervals: dict[str, list[Interval]] = field(default_factory=dict)
    """Of the phase under way: those of each engine that are not said yet."""
    _ends: dict[str, PhaseEnd] = field(default_factory=dict)

    def hear(self, name: str, message: Message) -> Iterator[Message]:
        """What is to be said now that the engine on the host `name` has said this."""
        match message:
            case Hello():
                self._hellos[name] = message
                if len(self._hellos) == len(self.names):
                    yield _merged_hello([self._hellos[each] for each in self.names])
            case PhaseStart() | Connected() | Measuring():
                said = self._starts.setdefault((message.type, message.phase), {})
                said[name] = message
                if len(said) == len(self.names):
                    yield _merged_start(list(said.values()))
            case Interval():
                self._intervals.setdefault(name, []).append(message)
                yield from self._complete()
            case PhaseEnd():
                self._ends[name] = message
                yield from self._complete()
                if len(self._ends) == len(self.names):
                    yield merged_end({each: self._ends[each] for each in self.names})
                    self._ends.clear()
            case Check() if name == self.names[0]:
                # All engines look at the same data once all have ended.
                yield message
            case Alive():
                yield message
            case Done():
                self._dones[name] = message
            case _:
                pass

    @property
    def ended(self) -> Mapping[str, Done]:
        """The last message of each engine that has ended."""
        return self._dones

    def ends(self) -> Mapping[str, PhaseEnd]:
        """Of the phase under way: the engines for which it is over."""
        return self._ends

    def done(self) -> Done:
        """The last message, once all have ended."""
        dones = list(self._dones.values())
        peaks = [done.peak_rss_bytes for done in dones if done.peak_rss_bytes is not None]
        return Done(
            t_ns=max(done.t_ns for done in dones),
            exit=max((done.exit for done in dones), key=_EXITS.index),
            client_cpu=added_cpu(done.client_cpu for done in dones),
            peak_rss_bytes=max(peaks, default=None),
        )

    def _complete(self) -> Iterator[Interval]:
        """The intervals that every engine whose phase goes on has given."""
        while any(self._intervals.values()):
            waiting = [
                name for name in self.names if name not in self._ends and not self._intervals.get(name)
            ]
            if waiting:
                return
            yield merged_interval([given.pop(0) for given in self._intervals.values() if given])


def _merged_hello(hellos: Sequence[Hello]) -> Hello:
    """`cpus` are numbers on different machines, and are left out."""
    return hellos[0].model_copy(
        update={
            "t_ns": max(hello.t_ns for hello in hellos),
            "reactors": sum(hello.reactors for hello in hellos),
            "pinned": all(hello.pinned for hello in hellos),
            "cpus": [],
        }
    )


def _merged_start(
    said: Sequence[PhaseStart | Connected | Measuring],
) -> PhaseStart | Connected | Measuring:
    last = max(said, key=lambda message: message.t_ns)
    starts = [each for each in said if isinstance(each, PhaseStart)]
    if starts:
        return last.model_copy(update={"connections": sum(each.connections for each in starts)})
    connected = [each for each in said if isinstance(each, Connected)]
    if not connected:
        return last
    codes = dict.fromkeys(code for each in connected for code in each.errors)
    return last.model_copy(
        update={
            "reached": sum(each.reached for each in connected),
            "failed": sum(each.failed for each in connected),
            "errors": {code: sum(each.errors.get(code, 0) for each in connected) for code in codes},
        }
    )
