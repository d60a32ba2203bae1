"""A fleet: the trials of one run spread over equal machines. Pure.

A block goes whole to one host, so that its trials are compared within that host, and hosts get as many blocks
as each other. The host is then a block of the design (R. A. Fisher, The Design of Experiments, 1935): what a
machine adds to all of its trials is in no comparison.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from mydyno.core.facts import HostFacts
from mydyno.core.plurals import counted, plural
from mydyno.core.record import Record
from mydyno.core.units import format_bytes, format_duration
from mydyno.lab.plan.estimate import Estimate

CONTROL_TRIALS = 2
"""Trials of the first point on every host before all others (an A/A over hosts): the fewest that say how much
trials of one host differ."""

_NONE: Mapping[int, str] = MappingProxyType({})


class FleetHost(Record):
    """One machine of a fleet."""

    name: str
    """In hosts.yaml."""
    cpus: int
    memory_bytes: int | None
    kernel: str | None


class FleetTime(Record):
    """Seconds that a plan takes on so many hosts."""

    hosts: int
    seconds: float
    low_seconds: float
    high_seconds: float


class Fleet(Record):
    """The machines of a plan. They are not part of its fingerprint: a run goes on with other ones."""

    hosts: tuple[FleetHost, ...]
    control_trials: int
    """Of the first point on every host, before block 1; 0 for none."""
    times: tuple[FleetTime, ...] = ()
    """By number of hosts, from 1."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(host.name for host in self.hosts)


class _Trial(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def block(self) -> int: ...


def fleet_of(facts: HostFacts, control: bool) -> Fleet:
    """`control`: with an A/A over hosts, which needs two of them."""
    hosts = tuple(
        FleetHost(name=name, cpus=one.cpus, memory_bytes=one.memory_bytes, kernel=one.kernel)
        for name, one in facts.others.items()
    )
    return Fleet(hosts=hosts, control_trials=CONTROL_TRIALS if control and len(hosts) > 1 else 0)


def on_hosts(
    fleet: Fleet, alone: Estimate, made_once: float, blocks: int, rest_seconds: float
) -> tuple[Estimate, Fleet]:
    """The estimate with all hosts side by side, and the fleet with its times.

    `alone`: on one host. `made_once`: seconds of it that are spent here, before the first trial.
    """
    first = next(iter(alone.trials.values()))

    def on(hosts: int) -> FleetTime:
        share = -(-blocks // hosts) / blocks
        rests = rest_seconds * (blocks - 1)
        own_rests = rest_seconds * (-(-blocks // hosts) - 1)
        control = fleet.control_trials if hosts > 1 else 0

        def long(total: float, trial: float) -> float:
            return made_once + (total - made_once - rests) * share + own_rests + control * trial

        return FleetTime(
            hosts=hosts,
            seconds=long(alone.seconds, first.middle),
            low_seconds=long(alone.low_seconds, first.low),
            high_seconds=long(alone.high_seconds, first.high),
        )

    times = tuple(on(hosts) for hosts in range(1, len(fleet.hosts) + 1))
    if not times:
        return alone, fleet
    last = times[-1].model_dump(exclude={"hosts"})
    return alone.model_copy(update=last), fleet.model_copy(update={"times": times})


def hosts_of_blocks(
    blocks: int, hosts: Sequence[str], seed: int, begun: Mapping[int, str] = _NONE
) -> dict[int, str]:
    """The host of each block, from 1: the one with the fewest blocks before it, among equal ones by a hash.

    `begun` are those that have a host already, which may be none of `hosts`. Without hosts only they have.
    """
    counts = dict.fromkeys(hosts, 0)
    found = {}
    for block in range(1, blocks + 1):
        host = begun.get(block)
        if host is None and counts:
            host = min(counts, key=lambda name: (counts[name], _hash(seed, block, name)))
        if host is not None:
            found[block] = host
            counts |= {host: counts[host] + 1} if host in counts else {}
    return found


def _hash(seed: int, block: int, host: str) -> bytes:
    return hashlib.sha256(f"{seed}/{block}/host/{host}".encode()).digest()


class Assignment:
    """Which trial each host of a fleet runs next. It draws no random number and reads no clock: the
    result depends on the seed, the trials that are done, and the hosts that answer."""

    def __init__(self, trials: Sequence[_Trial], seed: int, done: Mapping[str, str | None]) -> None:
        """`trials` in planned order; `done`: the id of a trial that need not run -> the host that ran it."""
        self._trials = {trial.id: trial for trial in trials}
        self._blocks = max((trial.block for trial in trials), default=0)
        self._seed = seed
        self._done = {trial: host for trial, host in done.items() if trial in self._trials}
        self._running: dict[str, str] = {}
        self._hosts: list[str] = []

    @property
    def running(self) -> Mapping[str, str]:
        """Host -> the trial that it runs."""
        return self._running

    def left(self, last_block: int) -> list[str]:
        """The trials up to a block that are not done, those that run now among them."""
        return [
            trial.id
            for trial in self._trials.values()
            if trial.id not in self._done and trial.block <= last_block
        ]

    def joins(self, host: str) -> None:
        """It takes trials from now on."""
        if host not in self._hosts:
            self._hosts.append(host)

    def leaves(self, host: str) -> str | None:
        """It takes no more trials; the one that it ran is done again by another, or by itself later."""
        if host in self._hosts:
            self._hosts.remove(host)
        return self._running.pop(host, None)

    def next(self, host: str, last_block: int) -> str | None:
        """The next trial of a host that runs none, up to a block; None: it has no more for now."""
        hosts = self.blocks()
        waiting = [
            self._trials[trial]
            for trial in self.left(last_block)
            if trial not in self._running.values() and hosts.get(self._trials[trial].block) == host
        ]
        begun = self._begun()
        return min(waiting, key=lambda trial: (trial.block not in begun, trial.block)).id if waiting else None

    def started(self, host: str, trial: str) -> None:
        self._running[host] = trial

    def finished(self, host: str) -> None:
        """The trial that it ran is done."""
        self._done[self._running.pop(host)] = host

    def blocks(self) -> dict[int, str]:
        """The host of each block for now."""
        return hosts_of_blocks(self._blocks, sorted(self._hosts), self._seed, self._begun())

    def _begun(self) -> dict[int, str]:
        """The host of each block that has one: of a whole block the one that ran most of it; of any other
        the one that runs it or has run most of it, as long as it is there."""
        ran: dict[int, dict[str, int]] = {}
        for trial, host in self._done.items():
            if host is not None:
                of_block = ran.setdefault(self._trials[trial].block, {})
                of_block[host] = of_block.get(host, 0) + 1
        unfinished = {trial.block for trial in self._trials.values() if trial.id not in self._done}
        begun = {}
        for block, counts in ran.items():
            able = [host for host in counts if block not in unfinished or host in self._hosts]
            if able:
                begun[block] = max(sorted(able), key=lambda host: counts[host])
        return begun | {self._trials[trial].block: host for host, trial in self._running.items()}


def described(fleet: Fleet, blocks: int, seed: int) -> Iterator[str]:
    """The fleet in sentences: who gets which blocks, what differs, and how long it takes with how many."""
    dealt = hosts_of_blocks(blocks, sorted(fleet.names), seed)
    yield (
        f"fleet of {counted(len(fleet.hosts), 'host')}: each runs whole blocks, one trial at a time, side by "
        "side; points are compared within blocks, so within hosts"
    )
    for host in fleet.hosts:
        own = [str(block) for block, name in dealt.items() if name == host.name]
        which = (
            f"{plural(len(own), 'block')} {', '.join(own)}" if own else "no block: there are fewer than hosts"
        )
        yield f"{host.name} ({_facts(host)}): {which}"
    if fleet.control_trials:
        yield (
            f"before block 1 every host runs the first point {fleet.control_trials} times: an A/A over hosts"
        )
    if fleet.times:
        yield "time by number of hosts: " + ", ".join(
            f"{time.hosts} {format_duration(time.seconds)}" for time in fleet.times
        )


def differing(fleet: Fleet) -> Iterator[str]:
    """The facts in which the hosts are not equal, one sentence each."""
    kinds: dict[str, dict[str, str]] = {
        "CPUs": {host.name: str(host.cpus) for host in fleet.hosts},
        "memory": {host.name: _memory(host) for host in fleet.hosts},
        "kernel": {host.name: host.kernel or "unknown" for host in fleet.hosts},
    }
    for kind, values in kinds.items():
        if len(set(values.values())) > 1:
            listed = ", ".join(f"{value} on {name}" for name, value in values.items())
            yield f"the hosts differ in {kind}: {listed}"


def _memory(host: FleetHost) -> str:
    return "unknown" if host.memory_bytes is None else format_bytes(host.memory_bytes)


def _facts(host: FleetHost) -> str:
    return f"{counted(host.cpus, 'CPU')}, {_memory(host)} of memory, kernel {host.kernel or 'unknown'}"
