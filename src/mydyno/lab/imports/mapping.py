"""The import file: which column of a table is a factor or a metric, in which unit, and what was concluded.

The names of metrics are those of `analysis.metrics`; a test compares the two.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from mydyno.core.document.base import Fault, Section, clash, refuse, slug
from mydyno.core.document.claims import Claim, claim_faults
from mydyno.core.document.problems import SpecErrors
from mydyno.core.document.source import parse, read_text
from mydyno.core.document.translate import translate
from mydyno.core.nearest import nearest
from mydyno.lab.results.records import Latency, PhaseRecord

SECONDS: Mapping[str, float] = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
RATES: Mapping[str, float] = {"1/s": 1.0, "1/min": 1 / 60, "1/h": 1 / 3600}

_LATENCIES = {
    "latency_mean": ("latency", "mean_ns"),
    "latency_p50": ("latency", "p50_ns"),
    "latency_p95": ("latency", "p95_ns"),
    "latency_p99": ("latency", "p99_ns"),
    "connect_mean": ("connect", "mean_ns"),
    "connect_p95": ("connect", "p95_ns"),
}
RUNNING_TIME = "running_time"
IOS_PER_SECOND = "ios_per_second"
UNITS: Mapping[str, Mapping[str, float]] = {
    "queries_per_second": RATES,
    "transactions_per_second": RATES,
    IOS_PER_SECOND: RATES,
    RUNNING_TIME: SECONDS,
    **dict.fromkeys(_LATENCIES, SECONDS),
}
"""Metric -> its units, each with how many seconds, or how many a second, one of it is."""


WHAT = "an import file"


def with_metric(phase: PhaseRecord, name: str, value: float) -> PhaseRecord:
    """`phase` with the metric `name`: seconds of a time, events a second of a rate."""
    if name == RUNNING_TIME:
        return replace(phase, measured_from_s=0.0, measured_to_s=value, ended_s=value)
    if name in _LATENCIES:
        kind, field = _LATENCIES[name]
        latency: Latency = getattr(phase, kind)
        ns = value * 1e9
        number = ns if field == "mean_ns" else round(ns)
        changed = replace(latency, **{field: number})  # type: ignore[arg-type]  # one of two kinds of number
        return replace(phase, latency=changed) if kind == "latency" else replace(phase, connect=changed)
    if name == "transactions_per_second":
        return replace(phase, transactions_per_second=value)
    return replace(phase, queries_per_second=value)


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise refuse(Fault(f"is not a regular expression: {error}", "as Python's re has them")) from None
    return text


def _short(raw: Any) -> Any:
    """`COLUMN` is short for `{column: COLUMN}`."""
    return {"column": raw} if isinstance(raw, str) else raw


class FactorColumn(Section):
    """Where the level of a factor is in a row."""

    column: str = Field(description="The column's name, as the table's first line has it.")
    find: Annotated[str, AfterValidator(_pattern)] | None = Field(
        default=None,
        description="A regular expression: the level is its first group that matched, or the whole match. "
        "Without it, the level is the whole cell.",
    )
    levels: dict[str, str] = Field(
        default={}, description="What the table writes -> what it is to be called."
    )
    otherwise: str | None = Field(
        default=None, description="The level of rows in which nothing is found; without it they have none."
    )


class MetricColumn(Section):
    """Where a number is in a row."""

    column: str = Field(description="The column's name.")
    unit: str | None = Field(
        default=None, description="Its unit (`s`, `ms`, `1/s`, `1/min`...), unless the cells write one."
    )


Factor = Annotated[FactorColumn, BeforeValidator(_short)]
Metric = Annotated[MetricColumn, BeforeValidator(_short)]


class ImportFile(Section):
    """How a table becomes an experiment."""

    name: Annotated[str, AfterValidator(slug)] = Field(alias="import", description="The experiment's name.")
    question: str | None = Field(default=None, description="What it is to answer.")
    source: str | None = Field(default=None, description="Where the numbers come from.")
    table: str | None = Field(default=None, description="The CSV file, in the folder of this file.")
    factors: dict[str, Factor] = Field(
        description="What varies: a name, and its column; `{}` where nothing does."
    )
    metrics: dict[str, Metric] = Field(
        default={}, description="What was measured: one of mydyno's metrics, and its column."
    )
    programs: tuple[str, ...] = Field(
        default=(),
        strict=False,
        description="Columns that have the running time of one test program each, in the unit of "
        "`running_time`, which then is their total.",
    )
    connections: int | str | None = Field(
        default=None, description="How many connections the load had: a number, or a column."
    )
    repetition: str | None = Field(
        default=None, description="The column that numbers the repetitions; equal numbers ran side by side."
    )
    claims: tuple[Claim, ...] = Field(default=(), strict=False, description="What the source concluded.")

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        metrics, programs = raw.get("metrics") or {}, raw.get("programs") or ()
        if not metrics and not programs:
            yield clash("import", "nothing is measured", "metrics, programs or both")
        if isinstance(metrics, Mapping):
            yield from _metric_faults(metrics, bool(programs))
        if programs and "connections" in raw:
            yield clash("connections", "test programs are distinguished by name, not by connections")
        if not programs and metrics and "connections" not in raw:
            yield clash(
                "metrics",
                "the number of connections is missing",
                "connections: NUMBER, or connections: COLUMN",
            )
        factors = raw.get("factors")
        if isinstance(factors, Mapping):
            yield from claim_faults(raw.get("claims") or (), factors)

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """(what it is for, column) of every column that the table must have."""
        columns = [(f"factor {name}", factor.column) for name, factor in self.factors.items()]
        columns += [(f"metric {name}", metric.column) for name, metric in self.metrics.items()]
        columns += [("program", column) for column in self.programs]
        if isinstance(self.connections, str):
            columns.append(("connections", self.connections))
        if self.repetition is not None:
            columns.append(("repetition", self.repetition))
        return tuple(columns)


def _metric_faults(metrics: Mapping[str, Any], programs: bool) -> Iterable[Fault]:
    for name, metric in metrics.items():
        at = ("metrics", name)
        units = UNITS.get(name)
        if units is None:
            yield Fault(
                f"unknown metric {name}", ", ".join(UNITS), nearest(name, UNITS), at, True, False, True
            )
            continue
        if programs and name != RUNNING_TIME:
            message = f"{name} with test programs, whose only metric is their running time"
            yield Fault(message, RUNNING_TIME, None, at, True, False, True)
        unit = metric.get("unit") if isinstance(metric, Mapping) else None
        if isinstance(unit, str) and unit not in units:
            yield Fault("is not a unit of it", ", ".join(units), nearest(unit, units), (*at, "unit"))
    if IOS_PER_SECOND in metrics and "queries_per_second" in metrics:
        message = "I/Os and queries: an experiment is about one of them"
        yield Fault(message, None, None, ("metrics", IOS_PER_SECOND), True, False, True)


def load(path: Path) -> tuple[ImportFile, str]:
    """The import file at `path`, and its text. Raises SpecErrors with all that is wrong with it."""
    text = read_text(path, WHAT)
    return loads(text, str(path)), text


def loads(text: str, name: str) -> ImportFile:
    """As `load`, from text; `name` stands for the file in messages."""
    tree = parse(text, name, WHAT)
    try:
        return ImportFile.model_validate(tree.plain())
    except ValidationError as error:
        raise SpecErrors(translate(error, ImportFile, (), tree, name)) from None
