"""What was recorded over time in the trials of a run, read out of the lab when a view asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mydyno.core.errors import LabError
from mydyno.lab.results.records import TrialRecord

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

    def __init__(self, source: SeriesSource, trials: Iterable[TrialRecord]) -> None:
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

    def of(self, trial: TrialRecord) -> Series:
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
