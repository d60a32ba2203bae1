"""What the intervals of each phase say of it: where it became steady, whether it drifted or stalled, and what
the server spent on each query. Pure.

A phase that is steady from its start keeps every number to the bit. Where its beginning is warm-up, rate
and latency become those of the rest. A phase that never becomes steady, drifts or stalls gets a warning and
still counts: what is compared is the same stretch of the same load in every trial, and a repetition would
show the same again. To leave such trials out would leave the verdict to chance.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from mydyno.lab.analysis.drift import drift
from mydyno.lab.analysis.steady import Steadiness, Stretch, stalls, steadiness
from mydyno.lab.load.messages import Interval
from mydyno.lab.results.records import PhaseRecord, Remark
from mydyno.lab.sampling.costs import Work, costs
from mydyno.lab.sampling.histograms import Histogram, merged
from mydyno.lab.sampling.stall_causes import stall_causes

_NS = 1e9
QUERIES = "queries"
"""The series of histograms that intervals have."""


@dataclass(frozen=True)
class Judged:
    """Phases with the rates and latencies of their steady parts, and what is to be known of them."""

    phases: tuple[PhaseRecord, ...]
    remarks: tuple[Remark, ...]
    histograms: dict[str, dict[str, str]]
    """As given, but that of the queries is of the steady part where warm-up was left out."""


def judge_phases(
    phases: Sequence[PhaseRecord],
    intervals: Sequence[Interval],
    samples: pl.DataFrame,
    histograms: Mapping[str, Mapping[str, str]],
    *,
    timed: bool,
) -> Judged:
    """`timed`: the clock ends the phases. Only then is there a steady state to look for: given work has a
    beginning and an end that belong to it, and all of it is what was configured."""
    kept = {phase: dict(series) for phase, series in histograms.items()}
    if not timed:
        given = (_with_costs(phase, _measured(phase, intervals), samples) for phase in phases)
        return Judged(tuple(given), (), kept)
    judged: list[PhaseRecord] = []
    remarks: list[Remark] = []
    for phase in phases:
        measured = _measured(phase, intervals)
        if phase.slices is not None:
            # The fit over all servers of the block has judged them.
            judged.append(_with_costs(phase, measured, samples))
            continue
        one = _Phase(phase, measured)
        record, whole = one.judged()
        judged.append(_with_costs(record, one.steady, samples))
        if whole is not None:
            kept.setdefault(str(phase.index), {})[QUERIES] = whole.encoded()
        remarks += [
            Remark(check=check, message=message, phase=phase.index)
            for check, message in one.warnings(record, samples)
        ]
    return Judged(tuple(judged), tuple(remarks), kept)


def _measured(phase: PhaseRecord, intervals: Sequence[Interval]) -> list[Interval]:
    """The measured intervals of a phase that came to its end."""
    if phase.aborted or phase.label is not None:
        return []
    own = (one for one in intervals if one.phase == phase.index and not one.warmup)
    return sorted(own, key=lambda one: one.from_ns)


def _with_costs(phase: PhaseRecord, intervals: Sequence[Interval], samples: pl.DataFrame) -> PhaseRecord:
    """With what the server spent in `intervals`, or where a load has none, in all that was measured."""
    work = [Work(one.from_ns / _NS, one.to_ns / _NS, one.queries, one.transactions) for one in intervals]
    if not work and phase.measured_from_s is not None and phase.measured_to_s is not None:
        work = [Work(phase.measured_from_s, phase.measured_to_s, phase.queries, phase.transactions)]
    # What the slices say of CPU is exact and compared within rounds: it goes before what the samples say.
    return phase if phase.aborted else replace(phase, costs={**costs(samples, work), **phase.costs})


@dataclass(frozen=True)
class _Phase:
    record: PhaseRecord
    intervals: list[Interval]

    @cached_property
    def found(self) -> Steadiness:
        return steadiness([_rate(one) for one in self.intervals])

    @property
    def steady(self) -> list[Interval]:
        return self.intervals[self.found.first :]

    def judged(self) -> tuple[PhaseRecord, Histogram | None]:
        """The record with what is known of its steady part, and that part's histogram where it is not all."""
        if self.found.outcome == "steady":
            return replace(self.record, steady_from_s=self.record.measured_from_s), None
        if self.found.outcome != "warm-up":
            return self.record, None
        steady = self.steady
        parts = [one.histogram for one in steady if one.queries]
        whole = merged(part for part in parts if part is not None)
        if whole is None or None in parts:
            return self.record, None
        seconds = (steady[-1].to_ns - steady[0].from_ns) / _NS
        queries, transactions = (sum(each) for each in zip(*map(_counts, steady), strict=True))
        record = replace(
            self.record,
            steady_from_s=steady[0].from_ns / _NS,
            queries_per_second=queries / seconds,
            transactions_per_second=transactions / seconds,
            latency=whole.latency(),
        )
        return record, whole

    def warnings(self, record: PhaseRecord, samples: pl.DataFrame) -> Iterator[tuple[str, str]]:
        """(check, message) of each warning."""
        if not self.intervals:
            return
        start = self.intervals[0].from_ns / _NS
        length = self.intervals[-1].to_ns / _NS - start
        steady = self.steady
        if self.found.outcome == "never":
            yield (
                "steady",
                (
                    f"never became steady in {length:.1f} s: more than half of it would be warm-up. "
                    "The whole phase is counted; use a longer duration"
                ),
            )
        elif self.found.outcome == "warm-up":
            first = f"the first {steady[0].from_ns / _NS - start:.1f} of {length:.1f} s are warm-up"
            if record.steady_from_s is None:
                yield "steady", f"{first}; they are counted, since the load reports latencies of whole "
                "phases only"
            else:
                yield "steady", f"{first}, excluded"
        moved = drift([_rate(one) for one in steady])
        if moved is not None and moved.found:
            way = "falls" if moved.change < 0 else "rises"
            yield (
                "drift",
                (
                    f"throughput {way} by {abs(moved.change) * 100:.0f}% over "
                    f"{(steady[-1].to_ns - steady[0].from_ns) / _NS:.1f} s"
                ),
            )
        stalled = stalls([_stretch(one) for one in steady])
        if stalled is not None:
            within = steady[0].from_ns / _NS, steady[-1].to_ns / _NS
            causes = stall_causes(samples, stalled.spans, within)
            why = f"with {' and '.join(causes)}" if causes else "the samples do not show why"
            yield "stalls", f"stalls every {stalled.period_s:.2g} s ({len(stalled.spans)} times), {why}"


def _counts(one: Interval) -> tuple[int, int]:
    return one.queries, one.transactions


def _rate(one: Interval) -> float | None:
    """None where the clock did not move."""
    length = one.to_ns - one.from_ns
    return one.queries * _NS / length if length > 0 else None


def _stretch(one: Interval) -> Stretch:
    return Stretch(
        from_s=one.from_ns / _NS,
        to_s=one.to_ns / _NS,
        rate=_rate(one),
        p99_ns=one.p99_ns,
        queries=one.queries,
    )
