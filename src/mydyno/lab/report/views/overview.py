"""The run over time: queries/s (or IOPS) of every trial, and counters that explain it, one panel a setting.

The figure of a 2014 Korean blog post on max_connections and thread_cache_size, with its repetitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from mydyno.lab.analysis.metrics import RUNNING_TIME
from mydyno.lab.analysis.observations import Place, overall_observations, place_of
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.results.records import TrialRecord

if TYPE_CHECKING:
    import polars as pl


COUNTERS = ("Threads_created", "Max_used_connections")
"""Shown on the left axis: how many threads the server made, and the most connections at once."""

GROWING = frozenset({"Threads_created"})
"""Counted from the start of the load; the others are shown as the server says them."""

_STRETCH = ("phase", "from_s", "to_s", "queries")
_Stretch = tuple[int, float, float, int]
"""Phase, from and to in seconds of the trial's clock, queries: thousands of them, so plain."""

_SAMPLED = tuple(f"status.{name}" for name in COUNTERS)

MOST_BEHIND = 20
"""More faint lines than these are a fog, and cost the reader's browser seconds."""
MOST_PANELS = 8
"""Settings that are shown; more would be too small to read, and each trial has a separate picture."""

MOST_STEPS = 240
"""More steps than this in one line are too narrow to see on a page, so neighbours are merged."""


@dataclass(frozen=True)
class Step:
    """Queries/s, or I/Os per second, over one stretch of a trial. Seconds count from the start of its first
    phase."""

    from_s: float
    to_s: float
    phase: int
    queries_per_second: float


@dataclass(frozen=True)
class RateLine:
    trial_id: str
    block: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class CounterLine:
    name: str
    points: tuple[tuple[float, float], ...]
    """(seconds from the start, value)"""


@dataclass(frozen=True)
class Span:
    """One phase of the trial that is shown in bold."""

    from_s: float
    to_s: float
    place: Place


@dataclass(frozen=True)
class Panel:
    setting: Setting
    shown: RateLine | None
    """The trial drawn in full; None when the point has no trial with a series."""
    others: tuple[RateLine, ...]
    """Behind it: the other valid trials, or as many of them as are distinguishable, spread over the run."""
    not_drawn: int
    """So many more valid trials there are."""
    counters: tuple[CounterLine, ...]
    spans: tuple[Span, ...]
    invalid: bool
    """No trial of this point was valid: an invalid one is shown."""


@dataclass(frozen=True)
class Overview:
    panels: tuple[Panel, ...]
    longest_s: float
    most_queries_per_second: float
    most_counted: float
    """Top of the left axis; 0 when no counter was sampled."""
    words: Words
    settings: int
    """How many there are; of more than `MOST_PANELS` the first ones are shown."""

    @property
    def left_out(self) -> int:
        return self.settings - len(self.panels)

    @property
    def named(self) -> bool:
        """Its phases have names, not numbers."""
        return any(isinstance(span.place, str) for panel in self.panels for span in panel.spans)

    @property
    def empty(self) -> bool:
        return not any(panel.shown for panel in self.panels)


def overview(evidence: Evidence) -> Overview:
    panels = tuple(_panel(evidence, setting) for setting in evidence.settings[:MOST_PANELS])
    lines = [line for panel in panels for line in (panel.shown, *panel.others) if line is not None]
    steps = [step for line in lines for step in line.steps]
    values = [value for panel in panels for counter in panel.counters for _, value in counter.points]
    return Overview(
        panels=panels,
        longest_s=max((step.to_s for step in steps), default=0.0),
        most_queries_per_second=max((step.queries_per_second for step in steps), default=0.0),
        most_counted=max(values, default=0.0),
        words=evidence.words,
        settings=len(evidence.settings),
    )


def _panel(evidence: Evidence, setting: Setting) -> Panel:
    of_point = evidence.trials_of(setting.point_id)
    valid = [trial for trial in of_point if trial.status == "valid"]
    lines = {
        (trial.trial_id, trial.attempt): line
        for trial in (valid or of_point[:1])
        if (line := _rate_line(trial, evidence.series_of(trial).intervals(*_STRETCH))) is not None
    }
    candidates = [trial for trial in of_point if (trial.trial_id, trial.attempt) in lines]
    chosen = most_typical(candidates)
    if chosen is None:
        return Panel(setting, None, (), 0, (), (), invalid=bool(of_point) and not valid)
    behind = [line for line in lines.values() if line.trial_id != chosen.trial_id]
    drawn = _spread_out(behind, MOST_BEHIND)
    return Panel(
        setting=setting,
        shown=lines[chosen.trial_id, chosen.attempt],
        others=drawn,
        not_drawn=len(behind) - len(drawn),
        counters=_counters(chosen, evidence.series_of(chosen).samples("t_s", *_SAMPLED)),
        spans=_spans(chosen),
        invalid=chosen.status == "invalid",
    )


def _spread_out(lines: Sequence[RateLine], most: int) -> tuple[RateLine, ...]:
    """At most `most` of them, first and last among them."""
    if len(lines) <= most:
        return tuple(lines)
    return tuple(lines[round(place * (len(lines) - 1) / (most - 1))] for place in range(most))


def most_typical(trials: Sequence[TrialRecord]) -> TrialRecord | None:
    """The trial whose rate is nearest to the median of all; of two as near the earlier."""
    rates = {trial.trial_id: rate for trial in trials if (rate := overall_rate(trial)) is not None}
    if not rates:
        return trials[0] if trials else None
    middle = median(rates.values())
    with_rate = [trial for trial in trials if trial.trial_id in rates]
    return min(with_rate, key=lambda trial: (abs(rates[trial.trial_id] - middle), trial.index))


def _start(trial: TrialRecord) -> float:
    return trial.phases[0].started_s if trial.phases else 0.0


def _spans(trial: TrialRecord) -> tuple[Span, ...]:
    start = _start(trial)
    return tuple(
        Span(phase.started_s - start, phase.ended_s - start, place_of(phase)) for phase in trial.phases
    )


def _rate_line(trial: TrialRecord, intervals: pl.DataFrame) -> RateLine | None:
    if intervals.is_empty():
        return None
    start = _start(trial)
    steps = tuple(
        Step(begin - start, end - start, phase, queries / (end - begin))
        for phase, begin, end, queries in _merge(intervals.sort("from_s").select(*_STRETCH).rows())
    )
    return RateLine(trial.trial_id, trial.block, steps) if steps else None


def _merge(stretches: list[_Stretch]) -> list[_Stretch]:
    """Neighbours of one phase joined until each is long enough: a sliver's rate is noise, a thousand a blot.

    Queries are summed over the joined time, so no rate is invented and none is lost.
    """
    whole = [stretch for stretch in stretches if stretch[2] > stretch[1]]
    if not whole:
        return []
    lengths = [end - begin for _, begin, end, _ in whole]
    short = median(lengths) / 2
    least = sum(lengths) / MOST_STEPS * 0.999
    merged: list[_Stretch] = []
    phase, begin, end, queries = whole[0]
    for following in whole[1:]:
        if following[0] == phase and (end - begin < least or following[2] - following[1] < short):
            end, queries = following[2], queries + following[3]
        else:
            merged.append((phase, begin, end, queries))
            phase, begin, end, queries = following
    merged.append((phase, begin, end, queries))
    return merged


def _counters(trial: TrialRecord, samples: pl.DataFrame) -> tuple[CounterLine, ...]:
    if samples.is_empty():
        return ()
    start = _start(trial)
    end = trial.phases[-1].ended_s if trial.phases else float("inf")
    lines = []
    for name in COUNTERS:
        column = f"status.{name}"
        if column not in samples.columns:
            continue
        read = samples.select("t_s", column).drop_nulls().sort("t_s")
        base = float(read.row(0)[1]) if name in GROWING and not read.is_empty() else 0.0
        points = tuple((t - start, float(v) - base) for t, v in read.iter_rows() if start <= t <= end + 1)
        if points:
            lines.append(CounterLine(name, points))
    return tuple(lines)


def overall_rate(trial: TrialRecord) -> float | None:
    """Queries/s of a trial over all that counts of its measured windows; None when nothing was measured."""
    seconds = queries = 0.0
    for phase in trial.phases:
        if phase.measured_from_s is not None and phase.measured_to_s is not None:
            if phase.queries_per_second is None:
                return None
            counted_from_s = phase.measured_from_s if phase.steady_from_s is None else phase.steady_from_s
            seconds += phase.measured_to_s - counted_from_s
            queries += phase.queries_per_second * (phase.measured_to_s - counted_from_s)
    return queries / seconds if seconds > 0 else None


def total_time(trial: TrialRecord, programs: Sequence[Place]) -> float | None:
    """Seconds of a trial in all of `programs`; None unless each of them was measured."""
    found = overall_observations([trial], programs, RUNNING_TIME) if programs else []
    return found[0].value if found else None
