"""The numbers of a report as flat tables, for a spreadsheet or another program. Missing cells are empty.

Latencies of all valid trials of a point together come from their histograms added up. The mean of percentiles
is a percentile of nothing. In the distribution that users of a point met, every query counts once, so a trial
that answered more of them weighs more. Intervals of a percentile still come from trials: queries of one trial
are not independent.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from typing import TypeVar

import polars as pl

from mydyno.core.csv_cells import FORMULA, NUMBER, csv_cell
from mydyno.lab.analysis.bootstrap import ends
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import Place, place_of
from mydyno.lab.analysis.summary import summary
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.report.views.comparison import ComparisonTable
from mydyno.lab.report.views.operations import totals_of
from mydyno.lab.report.views.transactions import Transactions
from mydyno.lab.results.records import NO_LATENCY, Latency, TrialRecord
from mydyno.lab.sampling.histograms import merged


def pooled(evidence: Evidence) -> Mapping[tuple[str, Place], Latency]:
    """(point, place) -> the latencies of its queries; without those of which a valid trial lacks its
    histogram."""
    parts: dict[tuple[str, Place], list[str | None]] = defaultdict(list)
    for trial in evidence.valid:
        kept = evidence.series_of(trial).histograms("queries")
        for phase in trial.phases:
            if phase.queries:
                parts[trial.point_id, place_of(phase)].append(kept.get(phase.index))
    latencies: dict[tuple[str, Place], Latency] = {}
    for where, histograms in parts.items():
        known = [one for one in histograms if one is not None]
        if len(known) < len(histograms):
            continue
        try:
            whole = merged(known)
        except ValueError:
            continue
        if whole is not None:
            latencies[where] = whole.latency()
    return latencies


Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

_POOLED = ("p50_ns", "p75_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns")
"""Percentiles of a point's whole distribution."""


def without_formulas(frame: Frame) -> Frame:
    """`frame` as it is written into a CSV file: texts, and names of columns, as `csv_cell` has them."""
    return frame.with_columns(
        pl.when(pl.col(name).str.contains(FORMULA) & ~pl.col(name).str.contains(NUMBER))
        .then(pl.concat_str(pl.lit("'"), pl.col(name)))
        .otherwise(pl.col(name))
        .alias(name)
        for name, kind in frame.collect_schema().items()
        if kind == pl.String
    ).rename(csv_cell)


def points_frame(evidence: Evidence) -> pl.DataFrame:
    """One row for each setting and place (connections, queue depth, test program): n, and each metric's mean
    with its 95% interval.

    Columns carry their unit: `latency_p95_ns`, `latency_p95_ns_low`, `latency_p95_ns_high`. `pooled_*` are of
    the queries of all trials together.
    """
    points = evidence.experiment.points
    names = [point.point_id for point in points]
    words = evidence.words
    summaries = {metric: summary(evidence.trials, names, metric) for metric in words.metrics}
    distributions = pooled(evidence)
    places = list(next(iter(summaries.values())))
    titles = {point.point_id: point.title for point in points}
    rows: list[dict[str, object]] = []
    for place in places:
        point_id, where = place
        label, connections = (where, None) if isinstance(where, str) else (None, where)
        row: dict[str, object] = {"point": point_id, "setting": titles[point_id]}
        row |= {words.load_column: connections, "label": label}
        row["n"] = max(summaries[metric][place].n for metric in words.metrics)
        for metric in words.metrics:
            one, column = summaries[metric][place], _column(metric)
            row[column] = one.value
            row[f"{column}_low"], row[f"{column}_high"] = ends(one.interval)
        latency = distributions.get(place, NO_LATENCY)
        row |= {f"pooled_{name}": getattr(latency, name) for name in _POOLED}
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def trials_frame(evidence: Evidence) -> pl.DataFrame:
    """One row for each phase of each trial, valid or not, as measured."""
    words = evidence.words
    rows = [
        {
            "trial": trial.trial_id,
            "attempt": trial.attempt,
            "order": trial.index + 1,
            "block": trial.block,
            **({"host": trial.host} if trial.host is not None else {}),
            "point": trial.point_id,
            "status": trial.status,
            "phase": phase.index,
            "label": phase.label,
            f"{words.load_column}_asked": phase.connections_asked,
            f"{words.load_column}_reached": phase.connections_reached,
            words.events_column: phase.queries,
            "transactions": phase.transactions,
            "errors": sum(phase.errors.values()),
            "retries": phase.retries,
            "reconnects": phase.reconnects,
            **{_column(metric): metric.value(phase) for metric in words.metrics},
            "remarks": "; ".join(
                remark.message for remark in trial.remarks if remark.phase in (None, phase.index)
            )
            or None,
        }
        for trial in evidence.trials
        for phase in trial.phases
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def comparison_frame(view: ComparisonTable) -> pl.DataFrame:
    """One row for each cell of the table of comparisons, row by row: the mean with its 95% interval, the
    ratio to the first column with its own, and whether a difference is shown.

    `unit` is that of the mean: 1/s, s or ns. A row over all places has neither a number nor a label.
    """
    rows: list[dict[str, object]] = []
    for row in view.rows:
        for column, cell in zip(view.columns, row.cells, strict=True):
            if cell is None:
                continue
            label = row.place if isinstance(row.place, str) else None
            number = row.place if isinstance(row.place, int) else None
            at, compared = cell.at, cell.compared
            rows.append(
                {
                    **dict(zip(view.others, row.levels, strict=True)),
                    view.words.load_column: number,
                    "label": label,
                    "metric": row.metric.name,
                    "unit": row.metric.unit,
                    "better": row.metric.better,
                    **({view.factor: column.level} if view.factor else {}),
                    "point": cell.setting.point_id,
                    "durability": column.durability,
                    "n": 0 if at is None else at.n,
                    "invalid": cell.invalid,
                    "mean": None if at is None else at.value,
                    "mean_low": None if at is None else at.low,
                    "mean_high": None if at is None else at.high,
                    "ratio": None if compared is None else compared.value,
                    "ratio_low": None if compared is None else compared.low,
                    "ratio_high": None if compared is None else compared.high,
                    "verdict": None if compared is None else compared.outcome,
                    "less_durable": None if compared is None else compared.less_durable,
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def transactions_frame(view: Transactions) -> pl.DataFrame:
    """One row for each name of a transaction at each place of each setting, over the valid trials."""
    rows: list[dict[str, object]] = []
    for row in view.rows:
        named = isinstance(row.place, str)
        cells: dict[str, object] = {
            "point": row.setting.point_id,
            "setting": row.setting.title,
            view.words.load_column: None if named else row.place,
            "label": row.place if named else None,
            "transaction": row.name,
            "count": row.count,
            "n": max((at.n for _, at in row.at if at is not None), default=0),
        }
        for metric, at in row.at:
            column = _column(metric)
            cells[column] = None if at is None else at.value
            cells[f"{column}_low"] = None if at is None else at.low
            cells[f"{column}_high"] = None if at is None else at.high
        rows.append(cells)
    return pl.DataFrame(rows, infer_schema_length=None)


def operations_frame(evidence: Evidence) -> pl.DataFrame:
    """One row for each timed operation of each trial, valid or not, as measured."""
    rows = [
        {**_of_trial(trial), "phase": phase.index, "program": phase.label, **asdict(operation)}
        for trial in evidence.trials
        for phase in trial.phases
        for operation in phase.operations
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def operation_totals_frame(evidence: Evidence) -> pl.DataFrame:
    """One row for each operation of each trial, valid or not, summed over its test programs."""
    rows = [{**_of_trial(trial), **asdict(total)} for trial in evidence.trials for total in totals_of(trial)]
    return pl.DataFrame(rows, infer_schema_length=None)


def self_checks_frame(evidence: Evidence) -> pl.DataFrame:
    """One row for each self-check of each trial, valid or not, as measured."""
    rows = [
        {**_of_trial(trial), **asdict(check), "ratio": check.ratio}
        for trial in evidence.trials
        for check in trial.self_checks
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _of_trial(trial: TrialRecord) -> dict[str, object]:
    return {
        "trial": trial.trial_id,
        "attempt": trial.attempt,
        "point": trial.point_id,
        "status": trial.status,
    }


def _column(metric: Metric) -> str:
    return metric.name if metric.unit in ("1/s", "") else f"{metric.name}_{metric.unit}"
