"""What makes servers incomparable stands above the verdict, in every form of the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lab.report.builders import MemoryRun, thread_cache_run
from mydyno.lab.analysis.merged import Part
from mydyno.lab.report.build import build
from mydyno.lab.report.compared import text as compared_text
from mydyno.lab.report.compared.chosen import Chosen
from mydyno.lab.report.compared.view import MergedRun, compared
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.text import summary
from mydyno.lab.report.views.page import page
from mydyno.lab.results.records import SettingTranslation, TrialRecord

TWO_FILES = {"version": "5.7.44", "innodb_log_file_size": "50331648", "innodb_log_files_in_group": "2"}
ONE_FILE = {"version": "10.6.18-MariaDB", "innodb_log_file_size": "50331648"}
REDO = "redo capacity is 96M (thread_cache_size = 8) and 48M (thread_cache_size = 450)"
SENTENCE = f"Different, but not set by a factor: {REDO}."


def run_with(
    in_force: Mapping[str, Mapping[str, str]], asked: Mapping[str, Mapping[str, str]] | None = None
) -> MemoryRun:
    """A run whose points' servers show and were asked for these."""
    run = thread_cache_run(connections=(10,), invalid=())

    def told(trial: TrialRecord) -> TrialRecord:
        own = dict(in_force.get(trial.point_id, {}))
        return replace(
            trial,
            settings_in_force={**trial.settings_in_force, **own},
            settings_asked={**trial.settings_asked, **(asked or {}).get(trial.point_id, {})},
        )

    return replace(run, records=tuple(map(told, run.records)))


def test_half_of_the_redo_log_is_shown_above_the_verdict_in_every_form(tmp_path: Path) -> None:
    run = run_with({"p1": TWO_FILES, "p2": ONE_FILE})
    whole = page(gather(run))
    assert whole.incomparable == (SENTENCE,)
    text = " ".join(summary(run).split())
    assert 0 < text.index(SENTENCE) < text.index(" ".join(whole.verdicts.headline.split()))
    written = build(run, tmp_path)
    html, markdown = written.html.read_text(), written.paths["summary.md"].read_text()
    assert 0 < html.index(REDO) < html.index("<h1>")
    assert 0 < markdown.index("Different, but not set by a factor") < markdown.index("**")
    assert json.loads((tmp_path / "report.json").read_text())["incomparable"] == [SENTENCE]


def test_a_setting_that_the_levels_set_is_what_is_compared() -> None:
    lazy = {"innodb_flush_log_at_trx_commit": "2"}
    assert page(gather(run_with({"p2": lazy}, {"p2": lazy}))).incomparable == ()
    [line] = page(gather(run_with({"p2": lazy}))).incomparable
    assert "innodb_flush_log_at_trx_commit is 1 (thread_cache_size = 8) and 2" in line


def test_a_translated_setting_is_still_what_the_experiment_wrote() -> None:
    # The file says 48M for both, which one release calls a capacity and the other does not.
    run = run_with(
        {"p1": {"version": "8.4.3", "innodb_redo_log_capacity": "100663296"}, "p2": ONE_FILE},
        {"p1": {"innodb_redo_log_capacity": "96M"}, "p2": {"innodb_log_file_size": "48M"}},
    )
    assert page(gather(run)).incomparable == ()
    became = SettingTranslation(
        name="innodb_log_file_size", value="48M", became={"innodb_redo_log_capacity": "96M"}, why="x"
    )
    translated = tuple(
        replace(trial, translations=(became,)) if trial.point_id == "p1" else trial for trial in run.records
    )
    assert page(gather(replace(run, records=translated))).incomparable == (SENTENCE,)


def test_servers_that_were_not_read_are_not_compared() -> None:
    run = run_with({"p1": TWO_FILES, "p2": ONE_FILE})
    silent = tuple(
        replace(trial, settings_in_force={}) if trial.point_id == "p2" else trial for trial in run.records
    )
    assert page(gather(replace(run, records=silent))).incomparable == ()


def test_a_comparison_of_runs_shows_what_differs_whoever_set_it() -> None:
    lazy = {"innodb_flush_log_at_trx_commit": "2"}
    before, after = run_with({}), run_with({"p1": lazy, "p2": lazy}, {"p1": lazy, "p2": lazy})
    chosen = [
        Chosen(Part(name, name, run.experiment, run.records), run)  # type: ignore[arg-type]
        for name, run in (("before", before), ("after", after))
    ]
    found = compared(MergedRun(chosen), 0.05)
    sentence = (
        "Different between the compared sides: innodb_flush_log_at_trx_commit is 1 (run = before) and 2 "
        "(run = after)."
    )
    assert found.incomparable == (sentence,)
    text = " ".join(compared_text.terminal(found, 80, gated=False).split())
    assert text.startswith(sentence)
    markdown = compared_text.markdown(found, gated=False)
    assert 0 < markdown.index("Different between the compared sides") < markdown.index("**")
