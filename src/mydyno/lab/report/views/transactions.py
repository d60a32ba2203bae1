"""The transactions of each name: how many, how many a second, and how long they took."""

from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.core.factors import last_part
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import Place, place_of, places, valid_trials
from mydyno.lab.analysis.summary import summary
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.report.views.curves import Measured, measured
from mydyno.lab.results.records import PhaseRecord

PERCENTILES = ("p50", "p95", "p99")


@dataclass(frozen=True)
class TransactionRow:
    place: Place
    name: str
    setting: Setting
    count: int
    """Over all valid trials."""
    at: tuple[tuple[Metric, Measured | None], ...]
    """The rate, then each of `PERCENTILES`; None where none of that name was measured."""


@dataclass(frozen=True)
class Transactions:
    words: Words
    rows: tuple[TransactionRow, ...]
    """By place, then by name, so that the settings of a name are one below the other. None where the
    transactions say no more than the statements do."""
    factor: str | None = None
    """The only one, as people say it: its levels name the settings. None: there are several, or none."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(row.name for row in self.rows)


def transactions(evidence: Evidence) -> Transactions:
    phases = [phase for trial in evidence.valid for phase in trial.phases]
    if not differ_from_statements(phases):
        return Transactions(evidence.words, ())
    names = dict.fromkeys(name for phase in phases for name in phase.transactions_by_name)
    points = [setting.point_id for setting in evidence.settings]
    summaries = {
        name: [(metric, summary(evidence.valid, points, metric)) for metric in _metrics(name)]
        for name in names
    }
    rows = (
        TransactionRow(
            place,
            name,
            setting,
            _count(evidence, setting, place, name),
            tuple((metric, measured(found[setting.point_id, place])) for metric, found in summaries[name]),
        )
        for place in places(evidence.valid)
        for name in names
        for setting in evidence.settings
    )
    factors = list(evidence.experiment.factors)
    factor = last_part(factors[0]) if len(factors) == 1 else None
    return Transactions(evidence.words, tuple(row for row in rows if row.count), factor)


def differ_from_statements(phases: Iterable[PhaseRecord]) -> bool:
    """Whether some transaction is more than one statement, whose latency is shown already."""
    return any(
        len(phase.transactions_by_name) > 1 or phase.transactions != phase.queries
        for phase in phases
        if phase.transactions_by_name
    )


def per_second(phase: PhaseRecord, name: str) -> float | None:
    """Transactions of that name per second: their share of the rate of all."""
    rate, latency = phase.transactions_per_second, phase.transactions_by_name.get(name)
    if rate is None or latency is None or not phase.transactions:
        return None
    return rate * latency.count / phase.transactions


def _metrics(name: str) -> tuple[Metric, ...]:
    def percentile(which: str) -> Metric:
        def value(phase: PhaseRecord) -> float | None:
            latency = phase.transactions_by_name.get(name)
            return None if latency is None else getattr(latency, f"{which}_ns")

        return Metric(f"latency_{which}", which, "ns", "lower", value, waits=True)

    rate = Metric(
        "transactions_per_second", "per second", "1/s", "higher", lambda phase: per_second(phase, name)
    )
    return (rate, *map(percentile, PERCENTILES))


def _count(evidence: Evidence, setting: Setting, place: Place, name: str) -> int:
    return sum(
        phase.transactions_by_name[name].count
        for trial in valid_trials(evidence.valid, setting.point_id)
        for phase in trial.phases
        if place_of(phase) == place and name in phase.transactions_by_name
    )
