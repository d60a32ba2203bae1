"""What an experiment's work is called: a server answers queries on connections, a disk does I/Os at a queue
depth. The numbers are of the same kind; this is the one place that knows their names."""

from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.core.plurals import counted
from mydyno.lab.analysis.metrics import (
    IOS_PER_SECOND,
    LATENCY_P95,
    LATENCY_P99,
    OF_IOS,
    OF_QUERIES,
    QUERIES_PER_SECOND,
    RUNNING_TIME,
    Metric,
)
from mydyno.lab.analysis.observations import Place, by_program, place_of
from mydyno.lab.results.records import TrialRecord, Work


@dataclass(frozen=True)
class Words:
    rate: Metric
    """What is best high: the first number of every comparison."""
    metrics: tuple[Metric, ...]
    """All that can be compared, for tables of numbers."""
    rate_short: str
    """Unit of a rate on an axis and in a table."""
    events: str
    """What is counted."""
    load: str
    """What distinguishes places by a number, as on an axis."""
    load_noun: str
    """The same in a sentence."""
    places_noun: str
    """Several of them."""
    each_load: str
    same_loads: str
    single_loads: str
    all_loads: str
    load_column: str
    """Column of a table for programs that holds it."""
    events_column: str
    part: str
    """What distinguishes places by a name."""
    closed_loop: str
    open_loop: str

    def at(self, place: Place) -> str:
        """` at 400 connections`, ` at queue depth 64`, ` in insert`."""
        if isinstance(place, str):
            return f" in {place}"
        return f" at {self.amount(place)}"

    def of_phase(self, trial: TrialRecord, index: int | None) -> str:
        """Where the phase of that index was; nothing for None, and for a phase that did not end."""
        return next((self.at(place_of(phase)) for phase in trial.phases if phase.index == index), "")

    def amount(self, load: int | str) -> str:
        """`400 connections`, `1 connection`, `queue depth 64`."""
        if self is IOS:
            return f"queue depth {load}"
        return counted(load, "connection") if isinstance(load, int) else f"{load} connections"

    def span(self, low: int, high: int) -> str:
        """`10 to 400 connections`, `queue depths 1 to 64`"""
        return f"queue depths {low} to {high}" if self is IOS else f"{low} to {high} connections"

    def best_at(self, place: Place) -> str:
        """The end of a sentence about the best place."""
        if isinstance(place, str):
            return f"at best, in {place}"
        return f"at best, {'at' if self is IOS else 'with'} {self.amount(place)}"


QUERIES = Words(
    rate=QUERIES_PER_SECOND,
    metrics=OF_QUERIES,
    rate_short="queries/s",
    events="queries",
    load="connections",
    load_noun="number of connections",
    places_noun="numbers of connections",
    each_load="at each number of connections",
    same_loads="at the same connections",
    single_loads="at single numbers of connections",
    all_loads="all numbers of connections",
    load_column="connections",
    events_column="queries",
    part="test program",
    closed_loop="Closed loop: each connection sends its next query when the last one is answered. "
    "Latency is service time, from sending a query to its answer.",
    open_loop="Open loop: queries are due at a given rate whatever the server does. "
    "Latency is response time, from the instant at which a query was due, so that waiting counts.",
)
IOS = Words(
    rate=IOS_PER_SECOND,
    metrics=OF_IOS,
    rate_short="IOPS",
    events="I/Os",
    load="queue depth",
    load_noun="queue depth",
    places_noun="queue depths",
    each_load="at each queue depth",
    same_loads="at the same queue depths",
    single_loads="at single queue depths",
    all_loads="all queue depths",
    load_column="queue_depth",
    events_column="ios",
    part="job",
    closed_loop="Closed loop: each job starts an I/O when an earlier one completes. "
    "Latency is from submission by fio to completion: at a deep queue it is mostly waiting.",
    open_loop="Open loop: I/Os are due at a given rate, and latency counts from that instant.",
)


def words_of(work: Work) -> Words:
    return IOS if work == "ios" else QUERIES


def primary_metric(trials: Sequence[TrialRecord], work: Work) -> Metric:
    """Queries/s, or I/Os per second; but where the load comes at a given rate, latency; and where the work is
    given, the time that it takes."""
    if work == "queries" and by_program(trials):
        return RUNNING_TIME
    kinds = {phase.latency_kind for trial in trials for phase in trial.phases}
    return tail_latency(trials) if kinds == {"response"} else words_of(work).rate


def tail_latency(trials: Sequence[TrialRecord]) -> Metric:
    """p99; p95 where more points have that: foreign programs report fewer percentiles than our engine."""

    def points_with(metric: Metric) -> int:
        return len(
            {
                trial.point_id
                for trial in trials
                if trial.status == "valid" and any(metric.value(phase) is not None for phase in trial.phases)
            }
        )

    return LATENCY_P95 if points_with(LATENCY_P95) > points_with(LATENCY_P99) else LATENCY_P99
