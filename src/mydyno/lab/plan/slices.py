"""Whether all points of a block can be measured in slices, and in which order the slices come. Pure.

In slices the servers of all points run at the same time, and one engine drives them in turn (Bulej et al.,
"Duet Benchmarking: Improving Measurement Accuracy in the Cloud", ICPE 2020). That is sound where the servers
share nothing that one of them must have alone, and where nothing goes on after a slice.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from mydyno.core.facts import HostFacts
from mydyno.core.slices import LEAST_ROUNDS
from mydyno.core.units import format_bytes, format_duration
from mydyno.lab.plan.memory import TIGHT, memory_sum
from mydyno.lab.plan.point import Point
from mydyno.lab.plan.statements import writes
from mydyno.lab.spec import Load

READING_S = 0.1
"""Length of a slice of a load that only reads: in the same time, many short ones cancel more of what a busy
machine does than a few long ones."""
WRITING_S = 2.0
"""Of a load that writes: what a server flushes after its slice is then little next to what it does in it."""
_LONGEST_S = 5.0
MOST_SERVERS = 16
"""More would keep each of them idle for most of the time."""
SERVER_BYTES = 256 * 1024**2
"""What a server with small buffers takes, its buffer pool of 128M included."""


def slice_seconds(points: Sequence[Point]) -> float:
    """The length of a slice where the experiment file gives none: there is time for enough rounds."""
    if not any(writes(point.workload) for point in points):
        return READING_S
    return min(WRITING_S, max(READING_S, longest_slice_s(points)))


def longest_slice_s(points: Sequence[Point]) -> float:
    """Slices are made longer, up to this, where statements take long or flushing goes on in the next slice:
    each phase keeps enough rounds."""
    return min(_LONGEST_S, _measured_s(points) / LEAST_ROUNDS)


def slice_warnings(groups: Iterable[Sequence[Point]], seconds: float) -> Iterator[str]:
    """One for slices of that length where a phase of one of the `groups` has too few of them."""
    measured = min(map(_measured_s, groups), default=None)
    needed = seconds * LEAST_ROUNDS
    if measured is not None and measured < needed:
        yield (
            f"slices of {format_duration(seconds)} make fewer than {LEAST_ROUNDS} rounds in the "
            f"{format_duration(measured)} that a phase is measured, too few to show whether the servers "
            f"disturb each other: use shorter slices, or measure for {format_duration(needed)}"
        )


def _measured_s(points: Sequence[Point]) -> float:
    """The shortest phase of `points`, whose loads are of a given time."""
    loads = [point.workload.each for point in points]
    return min(each.measure for each in loads if each is not None and each.measure is not None)


def obstacles(points: Sequence[Point], facts: HostFacts, load: Load | None) -> Iterator[str]:
    """Why `points`, A/A controls among them, cannot be measured in slices: a sentence each."""
    for reason in (_of_load(points), _of_generators(load), _of_machine(points)):
        if reason is not None:
            yield reason
    if len(points) > MOST_SERVERS:
        yield f"{len(points)} servers would run at the same time, and at most {MOST_SERVERS} can"
    needed = sum(_needed_bytes(point) for point in points)
    if facts.memory_bytes is not None and needed > TIGHT * facts.memory_bytes:
        has = f"this machine has {format_bytes(facts.memory_bytes)}"
        yield f"all {len(points)} servers together may need {format_bytes(needed)} of memory, and {has}"


def _of_load(points: Sequence[Point]) -> str | None:
    workloads = [point.workload for point in points]
    if any(workload.trace_options is not None for workload in workloads):
        return "a trace runs from its start to its end, and cannot be interrupted"
    if any(workload.resolved is None for workload in workloads):
        return "the load is a program or a test suite with its own control flow"
    if any(workload.each is None or workload.each.measure is None for workload in workloads):
        return (
            "the load is a fixed amount of work (each: rounds, events or split), not a time (each: measure)"
        )
    if any(workload.arrival.rate is not None for workload in workloads):
        return "transactions arrive at a given rate, which cannot be interrupted"
    if any(workload.ramp for workload in workloads):
        return "connections are opened over a time (ramp)"
    if len({len(workload.connections) for workload in workloads}) > 1:
        return "the points have different numbers of phases"
    return None


def _of_generators(load: Load | None) -> str | None:
    if load is not None:
        return (
            "the load comes from several machines, whose engines cannot switch from server to server together"
        )
    return None


def _of_machine(points: Sequence[Point]) -> str | None:
    setups = [point.setup for point in points]
    if any(setup.server.external is not None for setup in setups):
        return "an external server has one set of settings at a time"
    if any(setup.host.kind != "local" or setup.host != setups[0].host for setup in setups):
        return "the points run in guests, on another machine or on different environments"
    if any(setup.storage is not None for setup in setups):
        return "each point has separate storage, whose disks cannot be there twice"
    ports = [setup.server.network.port for setup in setups if setup.server.network.port]
    if len(set(ports)) < len(ports):
        return f"several servers would use port {ports[0]}"
    return None


def _needed_bytes(point: Point) -> int:
    return SERVER_BYTES + memory_sum(point).total


def slice_order(servers: int, rounds: int, seed: int, block: int) -> list[list[int]]:
    """The order of the servers in each round: each order at random, then reversed in the next round.

    A drift that is even over two rounds then meets all of them alike.
    """
    order: list[list[int]] = []
    for pair in range((rounds + 1) // 2):
        shuffled = sorted(range(servers), key=lambda server: _hash(seed, block, pair, server))
        order += [shuffled, shuffled[::-1]]
    return order[:rounds]


def _hash(seed: int, block: int, pair: int, server: int) -> bytes:
    return hashlib.sha256(f"{seed}/{block}/slices/{pair}/{server}".encode()).digest()
