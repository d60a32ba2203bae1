"""Every number of a report for programs: its tables as Parquet, and all that it says in one JSON document."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from typing import Any

import polars as pl

from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.words import Words
from mydyno.lab.report.csv import without_formulas
from mydyno.lab.report.views.page import Page

_EXPERIMENT = ("name", "size", "question", "source", "created_at", "mydyno_version", "plan_fingerprint")

ALWAYS = ("points", "trials")

VERSION = 1
"""Of the document: a key that is renamed or means something else makes a new one; a new key does not."""


def tables(frames: Mapping[str, pl.DataFrame]) -> dict[str, bytes]:
    """`points.csv`, `points.parquet`... of each table that has a row, and of those that are always there."""
    contents: dict[str, bytes] = {}
    for name, frame in frames.items():
        if not frame.is_empty() or name in ALWAYS:
            parquet = io.BytesIO()
            frame.write_parquet(parquet)
            contents |= {
                f"{name}.csv": without_formulas(frame).write_csv().encode(),
                f"{name}.parquet": parquet.getvalue(),
            }
    return contents


def report_json(whole: Page, frames: Mapping[str, pl.DataFrame]) -> str:
    """What the page says, and the rows of its tables. A number that is missing or has no bound is null."""
    experiment = whole.experiment
    document = {
        "format": VERSION,
        "experiment": {name: getattr(experiment, name) for name in _EXPERIMENT},
        "factors": experiment.factors,
        "points": experiment.points,
        "trials": {name: getattr(whole.method, name) for name in ("valid", "invalid", "done")},
        "remarks": whole.method.remarks,
        "verdicts": whole.verdicts,
        "incomparable": whole.incomparable,
        "costs": whole.costs.sentences,
        "key_numbers": whole.key_numbers,
        "ranks": whole.ranks.by_factor,
        "effects": whole.effects,
        "controls": whole.controls,
        "optima": whole.optima.rows,
        "tables": {name.replace("-", "_"): frame.to_dicts() for name, frame in frames.items()},
    }
    return json.dumps(_plain(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Values of the report as JSON has them: a metric by its name and unit, and no words, which name nothing
    that is measured."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Metric):
        return {"name": value.name, "unit": value.unit, "better": value.better}
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {
            name: _plain(each) for name, each in pairs if not isinstance(each, Words) and not callable(each)
        }
    if isinstance(value, Mapping):
        return {_key(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Set):
        return sorted(map(_plain, value), key=str)
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value


def _key(name: object) -> str:
    """`p1, 8` of a pair."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
