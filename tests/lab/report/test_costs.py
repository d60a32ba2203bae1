"""Costs per operation in every form of the report, with intervals and verdicts of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from lab.report.builders import MemoryRun, storage_run, thread_cache_run
from lab.report.costs import TYPICAL, with_costs
from lab.report.releases import releases_run
from mydyno.lab.analysis.merged import Part
from mydyno.lab.analysis.metrics import COSTS, LOCK_WAITS
from mydyno.lab.report.build import build
from mydyno.lab.report.compared import text as compared_text
from mydyno.lab.report.compared.chosen import Chosen
from mydyno.lab.report.compared.view import MergedRun, compared
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.text import summary
from mydyno.lab.report.views.costs import Costs
from mydyno.lab.report.views.page import page

MEASURED = [metric for metric in COSTS if TYPICAL.get(metric.name)]


def run(repeats: int = 5, **options: object) -> MemoryRun:
    return thread_cache_run(connections=(10, 100), repeats=repeats, invalid=(), **options)  # type: ignore[arg-type]


def costs_of(of: MemoryRun) -> Costs:
    return page(gather(of)).costs


def test_a_setting_that_takes_more_cpu_is_named_with_the_size_and_what_is_known_of_the_rate() -> None:
    alike = thread_cache_run(connections=(10,), repeats=6, invalid=())
    [sentence] = costs_of(with_costs(alike, {"p1": 1.0, "p2": 1.11})).sentences
    assert sentence.startswith("For this load thread_cache_size = 450 takes 11.")
    assert (
        "more server CPU per query than thread_cache_size = 8; no difference in queries per second"
        in sentence
    )
    assert sentence.endswith("is shown.")


def test_less_cpu_is_called_less_and_no_difference_has_its_bound() -> None:
    [less] = costs_of(with_costs(run(), {"p1": 1.0, "p2": 0.9})).sentences
    assert "less server CPU per query than" in less
    [same] = costs_of(with_costs(run(), {"p1": 1.0, "p2": 1.0})).sentences
    assert same.startswith("For this load no difference in server CPU per query larger than ")


def test_costs_that_scatter_too_much_make_no_sentence() -> None:
    assert costs_of(with_costs(run(), {"p1": 1.0, "p2": 1.05}, noise=0.4)).sentences == ()
    assert costs_of(with_costs(run(repeats=2), {"p1": 1.0, "p2": 1.5})).sentences == ()


def test_each_cost_has_its_mean_interval_ratio_and_verdict() -> None:
    table = costs_of(with_costs(run(), {"p1": 1.0, "p2": 1.11})).table
    assert [row.metric for row in table.rows] == MEASURED
    for row in table.rows:
        first, second = row.cells
        assert first is not None
        assert first.at is not None
        assert first.compared is None
        assert first.at.value == pytest.approx(TYPICAL[row.metric.name], rel=0.03)
        assert first.at.low is not None
        assert first.at.low < first.at.value
        assert second is not None
        assert second.compared is not None
        assert second.compared.value == pytest.approx(1.11, rel=0.03)
        assert second.compared.outcome == "slower"


def test_what_is_0_everywhere_has_no_row_and_0_next_to_a_number_has() -> None:
    of = with_costs(run(), {"p1": 1.0, "p2": 1.0})
    waits = tuple(
        replace(
            trial,
            phases=tuple(
                replace(phase, costs={**phase.costs, LOCK_WAITS.name: 0.02 * (trial.point_id == "p2")})
                for phase in trial.phases
            ),
        )
        for trial in of.records
    )
    row = costs_of(replace(of, records=waits)).table.rows[-1]
    assert row.metric is LOCK_WAITS
    none, some = row.cells
    assert none is not None
    assert none.at is not None
    assert none.at.value == 0
    assert some is not None
    assert some.at is not None
    assert some.at.value == pytest.approx(0.02)
    assert some.compared is None


def test_a_setting_without_costs_is_not_measured_and_never_0() -> None:
    of = with_costs(run(), {"p1": 1.0})
    table = costs_of(of).table
    assert [row.cells[1] and row.cells[1].at for row in table.rows] == [None] * len(MEASURED)
    assert "not measured" in summary(of)
    assert costs_of(run()).table.rows == ()
    assert "Costs per operation" not in summary(run()) + summary(storage_run())


def test_more_tests_make_each_cost_harder_to_show_but_not_the_cpu_per_query() -> None:
    def outcomes(several: MemoryRun) -> list[str]:
        rows = costs_of(several).table.rows
        return [row.cells[1].compared.outcome for row in rows if row.cells[1] and row.cells[1].compared]

    # At this noise a single test of 5 against 5 shows it, and one of seven does not.
    found = outcomes(with_costs(run(), {"p1": 1.0, "p2": 1.035}, noise=0.03, seed=4))
    assert found.count("slower") < len(found)


def test_one_setting_alone_has_its_costs_and_nothing_to_compare() -> None:
    alone = with_costs(run(levels=(8,)), {"p1": 1.0})
    found = costs_of(alone)
    assert [row.metric for row in found.table.rows] == MEASURED
    assert found.sentences == ()
    assert "45.0 µs" in summary(alone) or "44." in summary(alone) or "45." in summary(alone)


def test_several_factors_have_a_row_for_each_combination_and_a_short_table_on_a_terminal() -> None:
    crossed = releases_run()
    points = {one.point_id: 1.0 for one in crossed.experiment.points}
    of = with_costs(crossed, points)
    found = costs_of(of)
    assert found.sentences == ()
    assert len({row.levels for row in found.table.rows}) > 1
    text = summary(of, 80)
    assert "Server CPU per query (less is better)" in text
    assert "fsyncs per transaction" not in text


def test_a_terminal_of_80_columns_holds_the_table() -> None:
    text = summary(with_costs(run(), {"p1": 1.0, "p2": 1.11}), 80)
    assert max(map(len, text.splitlines())) <= 80
    assert "fsyncs per transaction" in text


def test_files_of_a_report_have_the_costs(tmp_path: Path) -> None:
    written = build(with_costs(run(), {"p1": 1.0, "p2": 1.11}), tmp_path)
    costs = pl.read_csv(written.paths["costs.csv"])
    assert costs["metric"].unique().sort().to_list() == sorted(metric.name for metric in MEASURED)
    assert set(costs["verdict"].drop_nulls()) == {"slower"}
    points = pl.read_csv(written.paths["points.csv"])
    assert points["server_cpu_per_query_ns"][0] == pytest.approx(45_000, rel=0.03)
    assert "redo_per_transaction_bytes" in points.columns
    assert "fsyncs_per_transaction" in points.columns
    assert "voluntary_switches_per_query" in pl.read_csv(written.paths["trials.csv"]).columns
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["costs"] == list(written.page.costs.sentences)
    assert len(report["tables"]["costs"]) == 2 * len(MEASURED)
    html = written.html.read_text()
    assert 'id="costs"' in html
    assert "more server CPU per query than" in html
    assert "## Costs per operation" in written.paths["summary.md"].read_text()


def test_a_comparison_of_runs_has_the_costs_too() -> None:
    def part(name: str, factor: float) -> Chosen:
        of = with_costs(
            thread_cache_run(levels=(8,), connections=(10,), invalid=(), repeats=5), {"p1": factor}
        )
        part = Part(name, name, of.experiment, of.records)
        return Chosen(part, of)  # type: ignore[arg-type]

    found = compared(MergedRun([part("before", 1.0), part("after", 1.2)]), 0.05)
    [sentence] = found.costs.sentences
    assert sentence.startswith("For this load run = after, thread_cache_size = 8 takes ")
    text = compared_text.terminal(found, 80, gated=False)
    assert "Server CPU per query (less is better)" in text
    assert "more server CPU per query than run = before" in " ".join(text.split())
    assert "Costs per operation" in compared_text.markdown(found, gated=False)
