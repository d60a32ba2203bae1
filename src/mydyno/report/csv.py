"""The numbers of a report as flat tables, for a spreadsheet or another program. Missing cells are empty."""

from __future__ import annotations

import polars as pl

from mydyno.analysis.metrics import ALL, Metric
from mydyno.analysis.summary import summary
from mydyno.report.evidence import Evidence


def points_frame(evidence: Evidence) -> pl.DataFrame:
    """One row for each setting and number of connections: n, and each metric's mean with its 95 % interval.

    Columns carry their unit: `latency_p95_ns`, `latency_p95_ns_low`, `latency_p95_ns_high`.
    """
    points = evidence.experiment.points
    names = [point.point_id for point in points]
    found = {metric: summary(evidence.trials, names, metric) for metric in ALL}
    places = list(next(iter(found.values())))
    titles = {point.point_id: point.title for point in points}
    rows: list[dict[str, object]] = []
    for place in places:
        point_id, connections = place
        row: dict[str, object] = {"point": point_id, "setting": titles[point_id], "connections": connections}
        row["n"] = max(found[metric][place].n for metric in ALL)
        for metric in ALL:
            one, column = found[metric][place], _column(metric)
            row[column] = one.mean
            row[f"{column}_low"] = one.interval.low if one.interval else None
            row[f"{column}_high"] = one.interval.high if one.interval else None
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def trials_frame(evidence: Evidence) -> pl.DataFrame:
    """One row for each phase of each trial, valid or not, as measured."""
    rows = [
        {
            "trial": trial.trial_id,
            "attempt": trial.attempt,
            "order": trial.index + 1,
            "block": trial.block + 1,
            "point": trial.point_id,
            "status": trial.status,
            "phase": phase.index,
            "connections_asked": phase.connections_asked,
            "connections_reached": phase.connections_reached,
            "queries": phase.queries,
            "transactions": phase.transactions,
            "errors": sum(phase.errors.values()),
            **{_column(metric): metric.value(phase) for metric in ALL},
        }
        for trial in evidence.trials
        for phase in trial.phases
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _column(metric: Metric) -> str:
    return metric.name if metric.unit == "1/s" else f"{metric.name}_{metric.unit}"
