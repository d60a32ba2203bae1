"""The series of a run as Prometheus reads them: OpenMetrics 1.0, or the older text format 0.0.4.

One family of metrics after the other, over all trials, as both formats ask; a part of the columns at a time,
so that a large run needs no large memory.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import polars as pl
from prometheus_client.core import Metric as Family
from prometheus_client.exposition import generate_latest as write_text
from prometheus_client.openmetrics.exposition import generate_latest as write_openmetrics

from mydyno.core.errors import LabError
from mydyno.lab.report.export.dictionary import Metric, Source, of_interval, of_sample
from mydyno.lab.results.records import PointRecord, TrialRecord
from mydyno.lab.results.run import Run

Form = Literal["openmetrics", "prometheus"]

_END = b"# EOF\n"
_FAMILIES_AT_ONCE = 48

_OneSeries = tuple[dict[str, str], list[tuple[float, float]]]
"""Labels, and (seconds since 1970, value) in order of time."""

TRIAL = Metric("mydyno_trial", "gauge", "A finished trial: 1 if it is valid, 0 if it is invalid")


@dataclass
class _Found:
    """Where the values of the families are."""

    samples: dict[Metric, list[tuple[str, Source]]] = field(default_factory=lambda: defaultdict(list))
    intervals: dict[Metric, list[tuple[str, Source]]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True)
class _Frame:
    """Some columns of one trial, in order of time."""

    values: pl.DataFrame
    at: list[float]
    """Seconds since 1970."""
    phases: Mapping[int | None, list[int]]
    """Phase, None between two -> its rows."""


class Exposition:
    """Iterate `chunks`; `lost` lists the trials without series, one sentence each."""

    def __init__(self, run: Run, form: Form) -> None:
        self._run = run
        self._trials = run.trials()
        self._starts = clock_starts(run, self._trials)
        self._write: Callable[[Registry], bytes] = write_openmetrics if form == "openmetrics" else write_text
        self._form = form
        self._points = {point.point_id: point for point in run.experiment.points}
        self.lost: list[str] = []
        self._readable = [trial for trial in self._trials if self._is_readable(trial)]

    def chunks(self) -> Iterator[bytes]:
        yield self._trial_family()
        found = self._find()
        for read, families in ((self._run.samples, found.samples), (self._run.intervals, found.intervals)):
            when = ("t_s", "phase") if families is found.samples else ("to_s", "phase")
            metrics = sorted(families, key=lambda metric: metric.name)
            for first in range(0, len(metrics), _FAMILIES_AT_ONCE):
                some = metrics[first : first + _FAMILIES_AT_ONCE]
                columns = [column for metric in some for column, _ in families[metric]]
                frames = [
                    (each, self._frame(each, read(each.trial_id, each.attempt, [*when, *columns]), when[0]))
                    for each in self._readable
                ]
                for metric in some:
                    yield self._family(metric, families[metric], frames)
        if self._form == "openmetrics":
            yield _END

    def _is_readable(self, trial: TrialRecord) -> bool:
        try:
            self._run.look_at_series(trial.trial_id, trial.attempt)
        except LabError as error:
            self.lost.append(error.message)
            return False
        return True

    def _find(self) -> _Found:
        found = _Found()
        for trial in self._readable:
            samples, intervals = self._run.series_columns(trial.trial_id, trial.attempt)
            for column in samples:
                _enter(found.samples, column, of_sample(column))
            for column in intervals:
                _enter(found.intervals, column, of_interval(column, self._run.experiment.work))
        return found

    def _frame(self, trial: TrialRecord, read: pl.DataFrame, when: str) -> _Frame:
        known = read.drop_nulls(when).sort(when) if when in read.columns else read.clear()
        start = self._starts[trial.trial_id, trial.attempt]
        phases: dict[int | None, list[int]] = {}
        if "phase" in known.columns:
            for place, phase in enumerate(known["phase"]):
                phases.setdefault(phase, []).append(place)
        else:
            phases[None] = list(range(known.height))
        return _Frame(known, [start + t_s for t_s in known[when]] if phases else [], phases)

    def _trial_family(self) -> bytes:
        """Who is who: the other metrics have its point and trial, and join it by them."""
        series: list[_OneSeries] = []
        for trial in self._trials:
            labels = self._labels(trial) | {
                "experiment": self._run.experiment.name,
                "setting": _title(self._points.get(trial.point_id)),
                "block": str(trial.block),
            }
            at = self._starts[trial.trial_id, trial.attempt]
            series.append((labels, [(at, 1.0 if trial.status == "valid" else 0.0)]))
        return self._text(TRIAL, series)

    def _family(
        self,
        metric: Metric,
        sources: Sequence[tuple[str, Source]],
        frames: Sequence[tuple[TrialRecord, _Frame]],
    ) -> bytes:
        series: list[_OneSeries] = []
        for trial, frame in frames:
            for column, source in sources:
                if column in frame.values.columns:
                    series += self._by_phase(trial, source, frame, column)
        return self._text(metric, series)

    def _text(self, metric: Metric, series: Sequence[_OneSeries]) -> bytes:
        """The library writes the head and one line of each series, with its name and labels. Instants and
        values are put behind those here, since it would look at every label again for every value."""
        family = Family(metric.name, metric.help, metric.type, metric.unit)
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        for labels, _ in series:
            family.add_sample(name, labels, 0.0, timestamp=0)
        lines = self._write(Registry(family)).removesuffix(_END).decode().splitlines()
        out = [line for line in lines if line.startswith("#")]
        firsts = (line for line in lines if not line.startswith("#"))
        for first, (_, rows) in zip(firsts, series, strict=True):
            named = first.rsplit(" ", 2)[0]
            if self._form == "openmetrics":
                out += [f"{named} {value} {at:.3f}" for at, value in rows]
            else:
                out += [f"{named} {value} {at * 1000:.0f}" for at, value in rows]
        return "".join(f"{line}\n" for line in out).encode()

    def _by_phase(
        self, trial: TrialRecord, source: Source, frame: _Frame, column: str
    ) -> Iterator[_OneSeries]:
        """One series a phase, in order of time; what lies between phases has an empty phase."""
        values = frame.values[column].to_list()
        for phase, places in frame.phases.items():
            labels = self._labels(trial) | {"phase": "" if phase is None else str(phase)}
            rows = [
                (frame.at[place], values[place] * source.scale)
                for place in places
                if values[place] is not None
            ]
            if rows:
                yield labels | dict(source.labels), rows

    def _labels(self, trial: TrialRecord) -> dict[str, str]:
        name = trial.trial_id if trial.attempt == 1 else f"{trial.trial_id}.{trial.attempt}"
        return {"run": self._run.folder.name, "point": trial.point_id, "trial": name}


@dataclass(frozen=True)
class Registry:
    """What the library asks for the families that it writes."""

    family: Family

    def collect(self) -> list[Family]:
        return [self.family]


def _enter(families: dict[Metric, list[tuple[str, Source]]], column: str, source: Source | None) -> None:
    if source is not None and (column, source) not in families[source.metric]:
        families[source.metric].append((column, source))


def _title(point: PointRecord | None) -> str:
    return "" if point is None else point.title


_SAME_START_S = 5.0
"""A trial's record and its first event are made one after the other; the record has whole seconds."""


def clock_starts(run: Run, trials: list[TrialRecord]) -> dict[tuple[str, int], float]:
    """(trial, attempt) -> seconds since 1970 at which `t_s` was 0.

    From the event at the start of the first phase, to some milliseconds. Where the events were lost, it is
    the start of the trial, which is earlier by the time that starting the stack took.
    """
    first_phases = list(_first_phases(run))
    starts = {}
    for trial in trials:
        began = _seconds(trial.started_at)
        fitting = [
            phase_at
            for trial_id, at, phase_at in first_phases
            if trial_id == trial.trial_id and abs(at - began) < _SAME_START_S
        ]
        phase_s = trial.phases[0].started_s if trial.phases else 0.0
        starts[trial.trial_id, trial.attempt] = fitting[-1] - phase_s if fitting else began
    return starts


def _first_phases(run: Run) -> Iterator[tuple[str, float, float]]:
    """Trial, when it began, when its first phase began."""
    # Trials of a fleet run side by side, one on each host.
    begun: dict[str, tuple[str, float]] = {}
    for event in _events(run):
        host = str(event.get("host", ""))
        match event:
            case {"type": "trial-started", "trial": str(name), "at": int() | float() as at}:
                begun[host] = name, float(at)
            case {"type": "phase-started", "at": int() | float() as at} if host in begun:
                yield *begun.pop(host), float(at)


def _events(run: Run) -> Iterator[dict[str, Any]]:
    try:
        lines = run.events_file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue  # A kill may have cut off a line.
        if isinstance(event, dict):
            yield event


def _seconds(instant: str) -> float:
    try:
        moment = datetime.fromisoformat(instant)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
