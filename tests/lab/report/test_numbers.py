"""The numbers of a report for programs are those of its tables and of its page."""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl

from lab.report.builders import thread_cache_run
from lab.report.releases import releases_run
from mydyno.lab.report.build import report_json, tables
from mydyno.lab.report.csv import comparison_frame, points_frame, trials_frame
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.page import Page, page


def written(run: Any) -> tuple[Page, dict[str, pl.DataFrame], dict[str, Any]]:
    evidence = gather(run)
    whole = page(evidence)
    frames = {
        "points": points_frame(evidence),
        "trials": trials_frame(evidence),
        "comparison": comparison_frame(whole.comparison),
        "self-checks": pl.DataFrame(),
    }
    return whole, frames, json.loads(report_json(whole, frames))


def test_a_table_is_the_same_as_csv_as_parquet_and_in_the_json() -> None:
    _, frames, document = written(releases_run())
    contents = tables(frames)
    for name in ("points", "trials", "comparison"):
        parquet = pl.read_parquet(io.BytesIO(contents[f"{name}.parquet"]))
        assert parquet.equals(frames[name])
        assert parquet.write_csv().encode() == contents[f"{name}.csv"]
        assert document["tables"][name] == json.loads(json.dumps(frames[name].to_dicts()))
    assert "self-checks.csv" not in contents
    assert document["tables"]["self_checks"] == []


def test_points_and_trials_are_there_even_without_a_row() -> None:
    assert set(tables({"points": pl.DataFrame(), "trials": pl.DataFrame(), "effects": pl.DataFrame()})) == {
        "points.csv",
        "points.parquet",
        "trials.csv",
        "trials.parquet",
    }


def test_verdicts_ratios_and_intervals_are_those_of_the_page() -> None:
    whole, _, document = written(thread_cache_run())
    (ratios,) = whole.verdicts.ratios
    (line,) = document["verdicts"]["ratios"]
    assert document["verdicts"]["headline"].split() == whole.verdicts.headline.split()
    assert line["metric"] == {"name": "queries_per_second", "unit": "1/s", "better": "higher"}
    for row, one in zip(ratios.rows, line["rows"], strict=True):
        assert (one["place"], one["value"], one["low"], one["high"]) == (
            row.place,
            row.value,
            row.low,
            row.high,
        )
        assert (one["n"], one["outcome"]) == (list(row.n), row.outcome)
    assert document["trials"]["invalid"] == 1
    assert document["points"][0]["levels"] == dict(whole.experiment.points[0].levels)


def test_a_number_without_bound_is_null() -> None:
    """JSON knows neither NaN nor Infinity, which Python would write."""
    for run in (thread_cache_run(repeats=1), releases_run(repeats=2)):
        whole = page(gather(run))
        text = report_json(whole, {})
        assert "NaN" not in text
        assert "Infinity" not in text
