"""What several engines say of a load, put together, is what one engine would say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from lab.sampling.builders import AN_HOUR, histogram
from mydyno.lab.load.messages import (
    Check,
    Connected,
    CpuSeconds,
    Done,
    Fairness,
    Hello,
    Histogram,
    Interval,
    Message,
    PhaseEnd,
    PhaseStart,
    Timed,
    parse,
)
from mydyno.lab.sampling.histograms import merged
from mydyno.lab.trial.generators.merge import (
    merged_end,
    merged_fairness,
    merged_histogram,
    merged_interval,
    shifted,
)
from mydyno.lab.trial.generators.merger import Merger

FIXTURES = Path(__file__).parents[3] / "fixtures" / "engine" / "messages"
PARTS = some.lists(some.lists(some.integers(1, AN_HOUR), max_size=40), min_size=1, max_size=5)


def told(*latencies_ns: int) -> Histogram:
    whole = merged([histogram(*latencies_ns)])
    assert whole is not None
    return Histogram(**vars(whole.latency()), histogram=whole.encoded())


def fixture(name: str) -> Message:
    return parse((FIXTURES / f"{name}.json").read_text())


def end(**changes: object) -> PhaseEnd:
    found = fixture("phase_end")
    assert isinstance(found, PhaseEnd)
    return found.model_copy(update=changes)


def interval(from_ns: int, *latencies_ns: int, warmup: bool = False, phase: int = 0) -> Interval:
    latency = told(*latencies_ns)
    return Interval(
        t_ns=from_ns + 100,
        phase=phase,
        from_ns=from_ns,
        to_ns=from_ns + 100,
        queries=len(latencies_ns),
        transactions=len(latencies_ns),
        errors=1,
        connections=2,
        p50_ns=latency.p50_ns,
        p95_ns=latency.p95_ns,
        p99_ns=latency.p99_ns,
        max_ns=latency.max_ns,
        warmup=warmup,
        histogram=latency.histogram,
        reconnects=1,
    )


@settings(deadline=None, max_examples=60)
@given(PARTS)
def test_the_histograms_of_the_engines_are_the_histogram_of_all_latencies(parts: list[list[int]]) -> None:
    everything = [value for part in parts for value in part]
    assert merged_histogram(told(*part) for part in parts) == told(*everything)


@settings(deadline=None, max_examples=60)
@given(PARTS)
def test_an_interval_of_several_engines_has_the_percentiles_of_all_latencies(parts: list[list[int]]) -> None:
    everything = [value for part in parts for value in part]
    whole = merged_interval([interval(1000, *part) for part in parts])
    alone = interval(1000, *everything)
    for name in ("from_ns", "to_ns", "queries", "transactions", "p50_ns", "p95_ns", "p99_ns", "max_ns"):
        assert getattr(whole, name) == getattr(alone, name), name
    assert (whole.connections, whole.errors, whole.reconnects) == (2 * len(parts), len(parts), len(parts))


@settings(deadline=None, max_examples=60)
@given(some.lists(some.lists(some.integers(0, 10_000), min_size=1, max_size=20), min_size=1, max_size=5))
def test_fairness_is_that_of_all_connections(parts: list[list[int]]) -> None:
    def of(events: list[int]) -> Fairness:
        return Fairness(
            connections=len(events),
            events_mean=float(np.mean(events)),
            events_stddev=float(np.std(events)),
            busy_mean_s=float(np.mean(events)) / 7,
            busy_stddev_s=float(np.std(events)) / 7,
        )

    whole = merged_fairness([*map(of, parts), None])
    alone = of([value for part in parts for value in part])
    assert whole is not None
    assert whole.model_dump() == pytest.approx(alone.model_dump(), abs=1e-6)
    assert merged_fairness([None]) is None


def test_the_end_of_a_phase_adds_counts_and_names_the_host_whose_phase_was_aborted() -> None:
    first = end(queries=Timed(count=3, latency=told(5, 6, 7)), backlog_max=4)
    second = end(
        queries=Timed(count=2, latency=told(5, 900)),
        backlog_max=6,
        measured_to_ns=700_000_500,
        measured_s=0.2000005,
        aborted="all connections were lost",
        errors={"1213": 2, "2013": 1},
        error_examples={"2013": "Lost"},
        client_cpu=CpuSeconds(user_s=0.5, system_s=0.25),
        wall_clock_step_ns=-9_000,
    )
    both = merged_end({"c1": first, "c2": second})
    assert (both.queries.count, both.queries.latency) == (5, told(5, 6, 7, 5, 900))
    assert both.aborted == "c2: all connections were lost"
    assert both.errors == {"1213": 3, "2013": 1}
    assert both.error_examples.keys() == {"1213", "2013"}
    assert (both.connections_asked, both.connections_reached) == (4, 4)
    assert both.statements["select_index"].count == 6
    assert both.transactions_by_name["round"].count == 2
    assert both.queries_by_class is not None
    assert both.queries_by_class.read == 6
    assert (both.measured_from_ns, both.measured_to_ns) == (500_000_000, 700_000_500)
    assert both.measured_s == 0.2000005
    assert both.client_cpu == CpuSeconds(user_s=0.504, system_s=0.262)
    assert (both.backlog_max, both.wall_clock_step_ns) == (10, -9_000)


def without_encoding(said: PhaseEnd) -> object:
    """Its values to the ns; two libraries compress the same histogram to different bytes."""
    text = said.model_dump_json(exclude={"machine_busy"})
    text = re.sub(r'"histogram":"[^"]*"', '"histogram":""', text)
    return json.loads(re.sub(r'("mean_ns":\d+)\.\d+', r"\1", text))


def test_one_engine_alone_says_what_it_said() -> None:
    alone = end()
    whole = merged_end({"c1": alone})
    assert without_encoding(whole) == without_encoding(alone)


def test_every_instant_goes_to_the_one_clock() -> None:
    there = shifted(end(), 1_000)
    assert isinstance(there, PhaseEnd)
    assert (there.t_ns, there.started_ns, there.measured_to_ns) == (987_655_321, 400_001_000, 700_001_000)
    unmeasured = shifted(end(measured_from_ns=None), 1_000)
    assert isinstance(unmeasured, PhaseEnd)
    assert unmeasured.measured_from_ns is None


def said(merger: Merger, *messages: tuple[str, Message]) -> list[Message]:
    return [out for name, message in messages for out in merger.hear(name, message)]


def test_an_interval_is_reported_once_all_have_given_it_and_a_phase_that_is_over_is_not_waited_for() -> None:
    merger = Merger(("c1", "c2"))
    assert said(merger, ("c1", interval(0, 5)), ("c1", interval(100, 6))) == []
    [first] = said(merger, ("c2", interval(3, 7, 8)))
    assert isinstance(first, Interval)
    assert (first.from_ns, first.to_ns, first.queries) == (0, 103, 3)
    [second] = said(merger, ("c2", end()))
    assert isinstance(second, Interval)
    assert (second.from_ns, second.queries) == (100, 1)
    third, whole = said(merger, ("c1", interval(200, 9)), ("c1", end()))
    assert isinstance(third, Interval)
    assert isinstance(whole, PhaseEnd)
    assert whole.queries.count == 8
    # The next phase waits for both again.
    assert said(merger, ("c1", interval(300, 5, phase=1))) == []


def test_what_all_say_is_said_once_and_checks_are_those_of_the_first() -> None:
    hello, start = fixture("hello"), fixture("phase_start")
    connected, check, done = fixture("connected"), fixture("check"), fixture("done")
    merger = Merger(("c1", "c2"))
    for message in (hello, start, connected):
        assert said(merger, ("c2", message)) == []
        [out] = said(merger, ("c1", message))
        assert type(out) is type(message)
        if isinstance(out, Hello) and isinstance(message, Hello):
            assert out.reactors == 2 * message.reactors
        if isinstance(out, PhaseStart) and isinstance(message, PhaseStart):
            assert out.connections == 2 * message.connections
        if isinstance(out, Connected) and isinstance(message, Connected):
            assert out.reached == 2 * message.reached
            assert out.errors == {code: 2 * count for code, count in message.errors.items()}
    assert isinstance(check, Check)
    assert said(merger, ("c2", check), ("c1", check)) == [check]
    assert isinstance(done, Done)
    said(merger, ("c1", done), ("c2", done.model_copy(update={"exit": "aborted"})))
    assert merger.done().exit == "aborted"
    assert merger.done().client_cpu.user_s == pytest.approx(2 * done.client_cpu.user_s)
