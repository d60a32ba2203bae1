"""Series stay in the lab until a view asks for one, and what is lost is told."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from lab.report.builders import thread_cache_run
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.page import page
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab


@pytest.fixture
def stored(tmp_path: Path) -> Run:
    """The first three trials of a made-up run, in a lab."""
    made = thread_cache_run(repeats=2, invalid=())
    lab = Lab.open(tmp_path, write=True)
    run = lab.run(made.experiment, "{}")
    for trial in made.records[:3]:
        run.save_trial(
            trial,
            samples=made.samples(trial.trial_id),
            intervals=made.intervals(trial.trial_id),
            histograms={},
        )
    return run


def test_a_series_gives_the_columns_that_are_asked_for_as_far_as_the_file_has_them(stored: Run) -> None:
    evidence = gather(stored)
    series = evidence.series_of(evidence.trials[0])
    whole = stored.samples("t001")
    assert series.samples().equals(whole)
    assert series.samples("status.Nothing", "t_s").equals(whole.select("t_s"))
    assert series.intervals("queries", "phase").columns == ["queries", "phase"]


def test_gathering_reads_no_series(stored: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pl, "scan_parquet", None)
    assert len(gather(stored).trials) == 3


@pytest.mark.parametrize("name", ["samples.parquet", "intervals.parquet"])
def test_a_series_that_is_cut_off_is_reported_before_it_is_read(stored: Run, name: str) -> None:
    torn = stored.trial_folder("t002") / name
    torn.write_bytes(torn.read_bytes()[:-7])
    (lost,) = gather(stored).lost
    assert str(torn) in lost
    assert "damaged" in lost


def test_a_series_that_is_damaged_inside_is_reported_on_the_page_that_wanted_it(stored: Run) -> None:
    torn = stored.trial_folder("t002") / "intervals.parquet"
    torn.write_bytes(b"PAR1" + b"\xff" * 200 + b"PAR1")
    evidence = gather(stored)
    assert evidence.lost == ()
    result = page(evidence).method.remarks
    assert any(str(torn) in sentence for sentence in result)
    assert evidence.series_of(evidence.trials[1]).samples().height > 0
