"""What the charts of the trials' pages are drawn from: data sets of each trial, charts that all share."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from mydyno.lab.analysis.time_spent import Part, TimeSpent
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.charts.trial import counters_chart, machine_chart, speed_chart, time_chart
from mydyno.lab.report.views.trial_pages import KEYS, TrialPage, TrialPhase
from mydyno.lab.report.views.trial_series import COUNTERS, CPU_MODES, Points
from mydyno.page.charts.live import LiveChart, live
from mydyno.page.page_data import Columns

DIGITS = 4
"""Of every number: a page of 200 trials has half a million of them, and no eye sees a fifth."""

TIME, SPEED, COUNTED, MACHINE = "trial-time", "trial-speed", "trial-counters", "trial-machine"
"""The charts' names."""


def trial_charts(pages: Sequence[TrialPage], words: Words) -> tuple[LiveChart, ...]:
    """The charts that some of `pages` has data for."""
    titles = counter_titles(pages)
    charts = {name for page in pages for name in charts_of(page)}
    made: dict[str, Callable[[], LiveChart]] = {
        TIME: lambda: live(TIME, time_chart),
        SPEED: lambda: live(SPEED, speed_chart(words), zoom=True),
        COUNTED: lambda: live(COUNTED, counters_chart(titles), zoom=True),
        MACHINE: lambda: live(MACHINE, machine_chart, zoom=True),
    }
    return tuple(make() for name, make in made.items() if name in charts)


def charts_of(page: TrialPage) -> tuple[str, ...]:
    """Those that this trial has data for."""
    series = page.series
    charts = {
        TIME: any(phase.spent for phase in page.phases),
        SPEED: series.intervals,
        COUNTED: series.counters,
        MACHINE: series.cpu or series.disks,
    }
    return tuple(name for name, there in charts.items() if there)


def counter_titles(pages: Sequence[TrialPage]) -> tuple[str, ...]:
    """The counters that some trial has, in their order."""
    known = {title for page in pages for title in page.series.counters}
    return tuple(counter.title for counter in COUNTERS if counter.title in known)


def trial_sets(page: TrialPage, words: Words, titles: Sequence[str]) -> dict[str, Columns]:
    """Every data set by name; those without a row are there too, since charts name them."""
    series = page.series
    start = page.trial.phases[0].started_s if page.trial.phases else 0.0
    return {
        "time": _columns(("row", "from", "to", "key", "seconds", "of", "name"), _icicles(page.phases, words)),
        "phases": _columns(
            ("from_s", "to_s", "name"),
            (
                (each.record.started_s - start, each.record.ended_s - start, str(each.place))
                for each in page.phases
            ),
        ),
        "intervals": _columns(
            ("phase", "s", "rate", "p99"), ((i.phase, i.at_s, i.rate, i.p99_ms) for i in series.intervals)
        ),
        "counters": _long(
            {at: series.counters[title] for at, title in enumerate(titles) if title in series.counters}, "k"
        ),
        "cpu": _long({list(CPU_MODES).index(mode): line for mode, line in series.cpu.items()}, "k"),
        "disks": _long(series.disks, "name"),
    }


Cell = float | int | str | None


def _icicles(phases: Sequence[TrialPhase], words: Words) -> Iterator[tuple[Cell, ...]]:
    row = 0
    for phase in phases:
        if phase.spent is None:
            continue
        yield from _bars(phase.spent.whole, row, 0.0, _named(phase, phase.spent, words))
        row += _depth(phase.spent.whole)


def _named(phase: TrialPhase, spent: TimeSpent, words: Words) -> str:
    """`16 connections × 4.00 s`"""
    own = "" if isinstance(phase.place, int) else f"{phase.place}: "
    return f"{own}{words.amount(spent.connections)} \N{MULTIPLICATION SIGN} {spent.seconds:.3g} s"


def _bars(part: Part, row: int, left: float, name: str) -> Iterator[tuple[Cell, ...]]:
    yield row, left, left + part.share, KEYS.index(part.key), part.seconds, part.of_seconds, name
    for inner in part.parts:
        if inner.share > 0:
            yield from _bars(inner, row + 1, left, "")
        left += inner.share


def _depth(part: Part) -> int:
    return 1 + max((_depth(inner) for inner in part.parts), default=0)


def _long(lines: Mapping[int, Points] | Mapping[str, Points], key: str) -> Columns:
    return _columns((key, "s", "v"), ((name, t, value) for name, line in lines.items() for t, value in line))


def _columns(names: Sequence[str], rows: Iterator[tuple[Cell, ...]]) -> Columns:
    cells = list(rows)
    return {name: [_short(row[place]) for row in cells] for place, name in enumerate(names)}


def _short(value: Cell) -> Cell:
    """Numbers with `DIGITS` digits, whole ones as such, so that they take little room as text."""
    if type(value) is not float:
        return value
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded
