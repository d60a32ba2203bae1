"""The few numbers that answer first, each for every setting."""

from dataclasses import dataclass
from statistics import median
from typing import Literal

from mydyno.core.factors import last_part
from mydyno.lab.analysis.metrics import CONNECT_MEAN, RUNNING_TIME, Metric
from mydyno.lab.analysis.summary import total_summary
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.report.views.curves import curves, tails
from mydyno.lab.report.views.optima import Optima
from mydyno.lab.report.views.overview import COUNTERS

Kind = Literal["count", "latency", "seconds"]


@dataclass(frozen=True)
class KeyNumber:
    name: str
    how: str
    """At what load, or over what, it was taken."""
    kind: Kind
    values: tuple[tuple[Setting, float | None, int], ...]
    """(setting, value, number of valid trials behind it); a latency in nanoseconds, a time in seconds."""


def key_numbers(evidence: Evidence, best: Optima) -> tuple[KeyNumber, ...]:
    """Without those that no setting has."""
    connecting = about_connections(evidence)
    at_the_most: tuple[tuple[Metric, Kind], ...] = (
        (evidence.words.rate, "count"),
        *((metric, "latency") for metric in tails(evidence)),
        *(((CONNECT_MEAN, "latency"),) if connecting else ()),
    )
    numbers: list[KeyNumber] = [
        *([_total(evidence)] if evidence.by_program else []),
        *(
            number
            for metric, kind in at_the_most
            if (number := _at_the_most(evidence, metric, kind)) is not None
        ),
        _optimum(evidence, best),
        *(_counter(evidence, name) for name in COUNTERS if connecting),
    ]
    return tuple(number for number in numbers if any(value is not None for _, value, _ in number.values))


_CONNECTING = ("connect", "thread_cache", "thread_handling", "thread_pool", "back_log", "skip_name_resolve")
"""Parts of the names of factors that change what a new connection costs."""


def about_connections(evidence: Evidence) -> bool:
    """A factor is about connecting, or the load connects again and again while it is measured."""
    if any(part in last_part(factor) for factor in evidence.experiment.factors for part in _CONNECTING):
        return True
    phases = (phase for trial in evidence.valid for phase in trial.phases)
    return any(each.kind == "connect" and each.count for phase in phases for each in phase.statements)


def _at_the_most(evidence: Evidence, metric: Metric, kind: Kind) -> KeyNumber | None:
    """At the most load (connections, queue depth) that every setting measured; if there is none, at the most
    of any."""
    view = curves(evidence, metric)
    if view.empty:
        return None
    measured = [{point.connections for point in curve.points} for curve in view.curves if curve.points]
    most = max(set.intersection(*measured) or set(view.connections))
    points = [(curve.setting, curve.at(most)) for curve in view.curves]
    name = evidence.words.rate_short if metric is evidence.words.rate else metric.noun
    return KeyNumber(
        name=name[:1].upper() + name[1:],
        how=f"at {evidence.words.amount(most)}",
        kind=kind,
        values=tuple((setting, at.value if at else None, at.n if at else 0) for setting, at in points),
    )


def _optimum(evidence: Evidence, best: Optima) -> KeyNumber:
    laws = [(setting, best.of(setting)) for setting in evidence.settings]
    return KeyNumber(
        name="Optimum",
        how=f"{evidence.words.load} at which the fitted law has its peak",
        kind="count",
        values=tuple(
            (setting, law.optimum, law.n) if law and law.outcome == "optimum" else (setting, None, 0)
            for setting, law in laws
        ),
    )


def _total(evidence: Evidence) -> KeyNumber:
    settings = [setting.point_id for setting in evidence.settings]
    found = total_summary(evidence.with_controls, settings, RUNNING_TIME)
    of_settings = [(setting, found[setting.point_id]) for setting in evidence.settings]
    return KeyNumber(
        name="Running time",
        how="of all test programs",
        kind="seconds",
        values=tuple((setting, one.value, one.n) for setting, one in of_settings),
    )


def _counter(evidence: Evidence, name: str) -> KeyNumber:
    values = []
    for setting in evidence.settings:
        seen = [
            float(trial.counters[name])
            for trial in evidence.trials_of(setting.point_id)
            if trial.status == "valid" and name in trial.counters
        ]
        values.append((setting, median(seen) if seen else None, len(seen)))
    return KeyNumber(name, "over a whole trial", "count", tuple(values))
