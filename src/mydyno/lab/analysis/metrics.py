"""What can be compared: a number of a phase, its unit, and which way is better."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from mydyno.lab.results.records import PhaseRecord

Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """`noun` names it inside a sentence (`p95 latency`); `value` reads it, None where it was not measured."""

    name: str
    noun: str
    unit: str
    better: Better
    value: Callable[[PhaseRecord], float | None]
    summed: bool = False
    """Over all places of a trial it is added up (a time that work took), not averaged."""
    cost: bool = False
    """What the server spends on each query or transaction."""
    waits: bool = False
    """A latency that counts from the intended start where the load came at a given rate, and from sending
    where it did not: the two must not be compared."""


def _running_time(phase: PhaseRecord) -> float | None:
    """None for a phase that ended early: less work takes less time."""
    if phase.measured_from_s is None or phase.measured_to_s is None or phase.aborted is not None:
        return None
    return phase.measured_to_s - phase.measured_from_s


def _seconds_per_query(phase: PhaseRecord) -> float | None:
    user, system = phase.client_cpu_user_s, phase.client_cpu_system_s
    if user is None or system is None or not phase.queries:
        return None
    return (user + system) / phase.queries


QUERIES_PER_SECOND = Metric(
    "queries_per_second", "queries per second", "1/s", "higher", lambda phase: phase.queries_per_second
)
TRANSACTIONS_PER_SECOND = Metric(
    "transactions_per_second",
    "transactions per second",
    "1/s",
    "higher",
    lambda phase: phase.transactions_per_second,
)
IOS_PER_SECOND = Metric(
    "ios_per_second", "I/Os per second", "1/s", "higher", lambda phase: phase.queries_per_second
)


def _latency(name: str, noun: str, value: Callable[[PhaseRecord], float | None]) -> Metric:
    return Metric(f"latency_{name}", f"{noun} latency", "ns", "lower", value, waits=True)


LATENCY_MEAN = _latency("mean", "mean", lambda phase: phase.latency.mean_ns)
LATENCY_P50 = _latency("p50", "median", lambda phase: phase.latency.p50_ns)
LATENCY_P95 = _latency("p95", "p95", lambda phase: phase.latency.p95_ns)
LATENCY_P99 = _latency("p99", "p99", lambda phase: phase.latency.p99_ns)
CONNECT_MEAN = Metric("connect_mean", "mean connect time", "ns", "lower", lambda phase: phase.connect.mean_ns)
CONNECT_P95 = Metric("connect_p95", "p95 connect time", "ns", "lower", lambda phase: phase.connect.p95_ns)
CLIENT_CPU_PER_QUERY = Metric(
    "client_cpu_per_query", "client CPU per query", "s", "lower", _seconds_per_query
)
CLIENT_CPU_PER_IO = Metric("client_cpu_per_io", "client CPU per I/O", "s", "lower", _seconds_per_query)
RUNNING_TIME = Metric("running_time", "running time", "s", "lower", _running_time, summed=True)
"""Of a test program, whose work is given."""


def _cost(name: str, noun: str, unit: str = "") -> Metric:
    return Metric(name, noun, unit, "lower", lambda phase: phase.costs.get(name), cost=True)


SERVER_CPU = _cost("server_cpu_per_query", "server CPU per query", "ns")
SERVER_CPU_USER = _cost("server_cpu_user_per_query", "server user CPU per query", "ns")
SERVER_CPU_SYSTEM = _cost("server_cpu_system_per_query", "server system CPU per query", "ns")
INSTRUCTIONS = _cost("instructions_per_query", "instructions per query")
CACHE_MISSES = _cost("cache_misses_per_query", "cache misses per query")
VOLUNTARY_SWITCHES = _cost("voluntary_switches_per_query", "voluntary context switches per query")
INVOLUNTARY_SWITCHES = _cost("involuntary_switches_per_query", "involuntary context switches per query")
DATA_READ = _cost("read_per_query", "data read per query", "bytes")
DATA_WRITTEN = _cost("written_per_transaction", "data written per transaction", "bytes")
FSYNCS = _cost("fsyncs_per_transaction", "fsyncs per transaction")
REDO = _cost("redo_per_transaction", "redo written per transaction", "bytes")
LOCK_WAITS = _cost("lock_waits_per_transaction", "row lock waits per transaction")

COSTS = (
    SERVER_CPU,
    SERVER_CPU_USER,
    SERVER_CPU_SYSTEM,
    INSTRUCTIONS,
    CACHE_MISSES,
    VOLUNTARY_SWITCHES,
    INVOLUNTARY_SWITCHES,
    DATA_READ,
    DATA_WRITTEN,
    FSYNCS,
    REDO,
    LOCK_WAITS,
)


def _latency_of(kind: str, name: str) -> Metric:
    """The tail of one kind of I/O, whose nature may differ: a read waits, a write may be taken by a cache."""

    def value(phase: PhaseRecord) -> float | None:
        kinds = next((each for each in phase.statements if each.kind == kind), None)
        return None if kinds is None else kinds.latency.p99_ns

    return Metric(f"{name}_latency_p99", f"p99 {name} latency", "ns", "lower", value, waits=True)


READ_P99 = _latency_of("read", "read")
WRITE_P99 = _latency_of("write", "write")
FSYNC_P99 = _latency_of("fsync", "fsync")

OF_QUERIES = (
    QUERIES_PER_SECOND,
    TRANSACTIONS_PER_SECOND,
    LATENCY_MEAN,
    LATENCY_P50,
    LATENCY_P95,
    LATENCY_P99,
    CONNECT_MEAN,
    CONNECT_P95,
    CLIENT_CPU_PER_QUERY,
    RUNNING_TIME,
    *COSTS,
)
OF_IOS = (
    IOS_PER_SECOND,
    LATENCY_MEAN,
    LATENCY_P50,
    LATENCY_P95,
    LATENCY_P99,
    READ_P99,
    WRITE_P99,
    FSYNC_P99,
    CLIENT_CPU_PER_IO,
)
