"""Everything that a report is made of, read from a run. What was recorded over time in the trials of a run,
read out of the lab when a view asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mydyno.core.errors import LabError
from mydyno.lab.analysis.grid import Grid, grid
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import by_program, controls_as_points, places
from mydyno.lab.analysis.standard import LABELS, MARGIN, Standard, least_durable, standard_of
from mydyno.lab.analysis.words import Words, primary_metric, words_of
from mydyno.lab.report.report_options import DEFAULTS, ReportOptions, factor_named, metric_named
from mydyno.lab.results import records
from mydyno.page.format import MISSING, printable

if TYPE_CHECKING:
    import polars as pl


class SeriesSource(Protocol):
    """A lab's run as far as its series go; attempts count from 1."""

    def samples(
        self, trial_id: str, attempt: int | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame: ...

    def intervals(
        self, trial_id: str, attempt: int | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame: ...

    def histograms(self, trial_id: str, attempt: int | None = None) -> Mapping[str, Mapping[str, str]]: ...

    def look_at_series(self, trial_id: str, attempt: int | None = None) -> None: ...


class Recorded:
    """The series of every trial. What the lab has lost is in `lost`, one sentence each, and never fatal:
    a file that is missing or cut off from the start, one that turns out damaged inside when it is read."""

    def __init__(self, source: SeriesSource, trials: Iterable[records.TrialRecord]) -> None:
        self._source = source
        self._lost: dict[str, None] = {}
        for trial in trials:
            try:
                source.look_at_series(trial.trial_id, trial.attempt)
            except LabError as error:
                self._lost[error.message] = None

    @property
    def lost(self) -> tuple[str, ...]:
        return tuple(self._lost)

    def of(self, trial: records.TrialRecord) -> Series:
        return Series(self, trial.trial_id, trial.attempt)

    def read(self, kind: str, trial_id: str, attempt: int, columns: Sequence[str]) -> pl.DataFrame:
        """`kind`: samples or intervals. An empty frame where the lab has lost them."""
        try:
            read = self._source.samples if kind == "samples" else self._source.intervals
            return read(trial_id, attempt, columns or None)
        except LabError as error:
            self._lost[error.message] = None
            import polars as pl

            return pl.DataFrame()

    def histograms(self, trial_id: str, attempt: int) -> Mapping[str, Mapping[str, str]]:
        """Empty where the lab has lost them."""
        try:
            return self._source.histograms(trial_id, attempt)
        except LabError as error:
            self._lost[error.message] = None
            return {}


@dataclass(frozen=True)
class Series:
    """Of one trial. Each call reads its file: only the columns named, of which a file may lack some; all when
    none is named. Empty frames where the lab has lost it."""

    recorded: Recorded
    trial_id: str
    attempt: int

    def samples(self, *columns: str) -> pl.DataFrame:
        """`t_s`, `phase`, a column `status.NAME` for each variable... (docs/reference/lab-format.md)."""
        return self.recorded.read("samples", self.trial_id, self.attempt, columns)

    def intervals(self, *columns: str) -> pl.DataFrame:
        """`phase`, `from_s`, `to_s`, `queries`... one row for each interval of the engine."""
        return self.recorded.read("intervals", self.trial_id, self.attempt, columns)

    def histograms(self, name: str) -> Mapping[int, str]:
        """Index of a phase -> its histogram of this name (`queries`), encoded; without those it lacks."""
        kept = self.recorded.histograms(self.trial_id, self.attempt)
        return {int(phase): named[name] for phase, named in kept.items() if name in named}


class Run(SeriesSource, Protocol):
    """What a report needs of a lab's run; `results.store` opens one."""

    experiment: records.ExperimentRecord

    @property
    def folder(self) -> Path | None:
        """In its lab; None where there is none."""
        ...

    def trials(self) -> Sequence[records.TrialRecord]: ...

    def control_trials(self) -> Sequence[records.TrialRecord]: ...

    def environment(self) -> records.Environment: ...

    def environment_changes(self) -> Mapping[str, tuple[str | int | float | None, ...]]: ...


COLORS = 8
"""Settings that a reader can distinguish by colour."""

SIGNS = dict(zip(LABELS, ("", " †", " ‡", " §"), strict=True))
"""Durability -> the sign after a name in a picture."""


@dataclass(frozen=True)
class Setting:
    """One point as the report shows it. `slot` gives its colour everywhere: its place in the experiment, or,
    where several factors vary, its column in the table of comparisons."""

    point_id: str
    title: str
    slot: int
    levels: tuple[str, ...] = ()
    """Of each factor, in their order; a dash where a nested one does not apply."""
    sign: str = ""
    """Of its durability in a picture, where settings differ in that; empty for the durable ones."""

    @property
    def short(self) -> str:
        """For narrow places: of several factors the levels alone, `RAID 10, 4 disks · OLTP`."""
        return " · ".join(self.levels) if len(self.levels) > 1 else self.title

    @property
    def signed(self) -> str:
        return f"{self.title}{self.sign}"


@dataclass(frozen=True)
class Evidence:
    """A run's records, in planned order, and its series, which stay in the lab until a view asks for one."""

    experiment: records.ExperimentRecord
    environment: records.Environment
    environment_changes: Mapping[str, tuple[str | int | float | None, ...]]
    """Facts that were not the same at every start of the run."""
    trials: tuple[records.TrialRecord, ...]
    """Every attempt at every trial."""
    recorded: Recorded
    control_trials: tuple[records.TrialRecord, ...] = ()
    """Of the A/A over the hosts of a fleet; no other view counts them."""
    folder: Path | None = None
    """Of the run in its lab; None where there is none."""
    across: str | None = None
    """The factor whose levels are compared; None for the first one of the experiment."""
    chosen: Metric | None = None
    """The metric that verdicts are about; None for that of the load."""
    margin: float = MARGIN
    """The equivalence margin."""
    one_family: bool = False
    """Verdicts of all rows are corrected together."""

    @cached_property
    def grid(self) -> Grid | None:
        """What is compared with what; None when nothing varies."""
        experiment = self.experiment
        return grid(experiment.factors, experiment.points, self.across, experiment.design.points)

    @property
    def crossed(self) -> bool:
        """Several factors vary: the comparison has several rows."""
        return self.grid is not None and len(self.grid.rows) > 1

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """All that are compared."""
        labels = {point.point_id: self._durability(point) for point in self.experiment.compared_points}
        differ = len(set(labels.values())) > 1
        return tuple(
            Setting(
                point.point_id,
                point.title,
                self.grid.column_of(point.point_id) if self.crossed and self.grid is not None else place,
                tuple(point.levels.get(factor, MISSING) for factor in self.experiment.factors),
                SIGNS.get(labels[point.point_id] or "", "") if differ else "",
            )
            for place, point in enumerate(self.experiment.compared_points)
        )

    @cached_property
    def controls(self) -> tuple[Setting, ...]:
        """A/A controls, which repeat another setting and are in no picture of settings."""
        of = {setting.point_id: setting for setting in self.settings}
        return tuple(
            replace(of[point.control_of], point_id=point.point_id, title=point.title)
            for point in self.experiment.points
            if point.control_of is not None
        )

    def _durability(self, point: records.PointRecord) -> str | None:
        return least_durable(trial for trial in self.valid if trial.point_id == point.point_id)

    @cached_property
    def standard(self) -> Standard:
        """By what its verdicts are made."""
        return standard_of(self.experiment.design, self.margin)

    def metric_of(self, trials: Sequence[records.TrialRecord]) -> Metric:
        """The one that a verdict on `trials` is about."""
        return self.chosen or primary_metric(trials, self.experiment.work)

    @property
    def words(self) -> Words:
        """What its work is called."""
        return words_of(self.experiment.work)

    @property
    def by_program(self) -> bool:
        """Its phases are test programs, whose work is given."""
        return self.experiment.work == "queries" and by_program(self.trials)

    @cached_property
    def programs(self) -> tuple[str, ...]:
        """The test programs of sql-bench that some trial came to."""
        phases = places(self.trials) if self.experiment.work == "queries" else ()
        return tuple(place for place in phases if isinstance(place, str))

    @property
    def valid(self) -> tuple[records.TrialRecord, ...]:
        return tuple(trial for trial in self.trials if trial.status == "valid")

    @cached_property
    def with_controls(self) -> tuple[records.TrialRecord, ...]:
        """All trials, those of an A/A control as more trials of the setting that it repeats: what means and
        ratios of settings are over."""
        return tuple(controls_as_points(self.trials, self.experiment.points))

    def trials_of(self, point_id: str) -> tuple[records.TrialRecord, ...]:
        return tuple(trial for trial in self.trials if trial.point_id == point_id)

    def series_of(self, trial: records.TrialRecord) -> Series:
        return self.recorded.of(trial)

    @property
    def lost(self) -> tuple[str, ...]:
        """What the lab cannot give any more, as far as it is known, one sentence each."""
        return self.recorded.lost


def gather(run: Run, options: ReportOptions = DEFAULTS) -> Evidence:
    """Read the numbers that a report shows out of `run`, and see that its series are there. Lost ones are
    reported and not fatal: the numbers remain.

    Raises UsageError when the experiment has no factor or metric of that name.
    """
    experiment = run.experiment
    across = None if options.columns is None else factor_named(options.columns, tuple(experiment.factors))
    chosen = None if options.metric is None else metric_named(options.metric, experiment.work)
    trials = _printable(tuple(sorted(run.trials(), key=lambda trial: (trial.index, trial.attempt))))
    return Evidence(
        experiment=_printable(experiment),
        environment=run.environment(),
        environment_changes=run.environment_changes(),
        trials=trials,
        recorded=Recorded(run, trials),
        control_trials=_printable(tuple(run.control_trials())),
        folder=run.folder,
        across=across,
        chosen=chosen,
        margin=options.margin,
        one_family=options.one_family,
    )


_TEXTS: Mapping[type, tuple[str, ...]] = {
    records.ExperimentRecord: ("name", "question", "source", "points"),
    records.PointRecord: ("title",),
    records.TrialRecord: (
        *("invalidities", "checks", "phases", "operation_totals", "ground"),
        *("self_checks", "remarks", "translations"),
    ),
    records.Invalidity: ("message",),
    records.CheckRecord: ("name", "detail"),
    records.PhaseRecord: ("label", "operations"),
    records.OperationRecord: ("name", "warning"),
    records.OperationTotal: ("name",),
    records.GroundRecord: ("kernel", "disk_model", "volumes"),
    records.VolumeRecord: ("name", "facts"),
    records.SelfCheckRecord: ("error",),
    records.Remark: ("message",),
    records.SettingTranslation: ("name", "value", "became", "why"),
}
"""Record -> its fields with text of a user, a server, a tool or the kernel. The text of the experiment file
stays to the letter."""


def _printable(value: Any) -> Any:
    """The same with these texts printable."""
    match value:
        case str():
            return printable(value)
        case tuple():
            return tuple(map(_printable, value))
        case Mapping():
            return {_printable(name): _printable(each) for name, each in value.items()}
    texts = {name: _printable(getattr(value, name)) for name in _TEXTS.get(type(value), ())}
    return replace(value, **texts) if texts else value
