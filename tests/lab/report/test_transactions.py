"""Transactions by name: in the report, on the pages of trials, and as CSV."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from lab.report.builders import MemoryRun, thread_cache_run
from lab.report.reading import parse
from lab.report.transactions import ORDER_ENTRY, with_transactions
from mydyno.lab.report.build import build
from mydyno.lab.report.csv import transactions_frame
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.html import html
from mydyno.lab.report.tables import transactions_table
from mydyno.lab.report.text import summary
from mydyno.lab.report.views.page import page
from mydyno.lab.report.views.settings import settings_view
from mydyno.lab.report.views.transactions import transactions
from mydyno.lab.report.views.trial_pages import trial_pages
from mydyno.lab.report.views.trials import trial_table

PLAIN = thread_cache_run(connections=(10, 400), repeats=3, invalid=())
RUN = with_transactions(PLAIN)


def test_every_name_has_its_count_rate_and_percentiles_at_each_place_of_each_setting():
    rows = transactions(gather(RUN)).rows
    assert [(row.place, row.name) for row in rows[::2]] == [
        (place, name) for place in (10, 400) for name in ORDER_ENTRY
    ]
    first = rows[0]
    own = [trial.phases[0] for trial in RUN.records if trial.point_id == first.setting.point_id]
    assert first.count == sum(phase.transactions_by_name["delivery"].count for phase in own)
    at = {metric.name: measured for metric, measured in first.at}
    assert list(at) == ["transactions_per_second", "latency_p50", "latency_p95", "latency_p99"]
    assert at["transactions_per_second"].trials == pytest.approx(
        [phase.transactions_per_second * 0.04 for phase in own], rel=1e-3
    )
    assert at["latency_p95"].trials == tuple(phase.transactions_by_name["delivery"].p95_ns for phase in own)
    assert at["latency_p95"].low < at["latency_p95"].value < at["latency_p95"].high


def test_an_invalid_trial_counts_for_nothing():
    bad = replace(RUN.records[0], status="invalid")
    rows = transactions(gather(replace(RUN, records=(bad, *RUN.records[1:])))).rows
    assert {at.n for row in rows for _, at in row.at} == {2, 3}


def test_a_lab_that_does_not_know_them_has_neither_a_table_nor_a_section():
    view = page(gather(PLAIN))
    assert view.transactions.rows == ()
    assert "Transactions by name" not in html(view, ())
    assert "Transactions by name" not in summary(PLAIN)
    assert transactions_frame(view.transactions).is_empty()


def test_a_transaction_of_one_statement_is_not_shown_twice():
    one = with_transactions(PLAIN, {"select": 1.0})
    assert [row.name for row in transactions(gather(one)).rows] == ["select"] * 4, "of two statements each"
    records = tuple(
        replace(trial, phases=tuple(replace(phase, queries=phase.transactions) for phase in trial.phases))
        for trial in one.records
    )
    assert transactions(gather(replace(one, records=records))).rows == ()
    assert "By name of transaction" not in _with_trials(replace(one, records=records))


def test_a_name_that_never_ran_has_no_row():
    never = with_transactions(PLAIN, {"often": 1.0, "never": 0.0})
    assert {row.name for row in transactions(gather(never)).rows} == {"often"}


def test_what_is_the_same_in_every_row_has_no_column():
    assert transactions_table(transactions(gather(RUN))).columns[:3] == (
        "connections",
        "transaction",
        "setting",
    )
    single = with_transactions(thread_cache_run(connections=(10,), levels=(8,), invalid=()))
    table = transactions_table(transactions(gather(single)))
    assert table.columns == ("transaction", "count", "per second", "p50", "p95", "p99")
    assert [row[0] for row in table.rows] == list(ORDER_ENTRY)


def test_the_page_has_a_section_and_each_trial_a_table():
    tree = parse(_with_trials(RUN))
    section = tree.by_id("transactions")
    assert len(section.all("tr")) == 1 + 2 * 2 * len(ORDER_ENTRY)
    assert "#transactions" in [link.attributes.get("href") for link in tree.all("a")]
    trial = tree.by_id("trial-t001")
    (table,) = (one for one in trial.all("table") if "new_order" in one.words)
    assert [cell.words for cell in table.all("th")[:4]] == [
        "connections",
        "transaction",
        "count",
        "per second",
    ]
    assert len(table.all("tr")) == 1 + 2 * len(ORDER_ENTRY)


def test_the_terminal_shows_the_first_rows_and_how_many_more_there_are():
    text = summary(RUN)
    assert "Transactions by name" in text
    assert text.count("new_order") == 2, "both settings with 10 connections"
    assert "8 more rows: see the report" in text


def test_the_rows_are_a_csv_and_in_the_document_for_programs(tmp_path: Path):
    build(RUN, tmp_path)
    frame = pl.read_csv(tmp_path / "transactions.csv")
    assert frame.height == 2 * 2 * len(ORDER_ENTRY)
    row = frame.row(0, named=True)
    assert (row["connections"], row["transaction"], row["n"]) == (10, "delivery", 3)
    assert row["latency_p99_ns_low"] < row["latency_p99_ns"] < row["latency_p99_ns_high"]
    assert len(json.loads((tmp_path / "report.json").read_text())["tables"]["transactions"]) == frame.height


def _with_trials(run: MemoryRun) -> str:
    evidence = gather(run)
    return html(page(evidence), (), trial_pages(evidence, trial_table(evidence), settings_view(evidence)))
