"""A lab that is damaged, newer, deleted or replaced while it is served: said, and the rest works."""

from __future__ import annotations

import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from mydyno.lab.results.schema import MIGRATIONS
from mydyno.lab.results.store import DATABASE, Lab
from serve.made import make_run
from serve.site import site


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Lab.open(tmp_path / "lab", write=True) as lab:
        make_run(lab, 0, 4, 4)
        make_run(lab, 1, 4, 4)
    return tmp_path / "lab"


def names(page: str) -> list[str]:
    return re.findall(r'<th scope="row" class="text"><a href="/runs/([^"]+)"', page)


def change(lab: Path, statement: str) -> None:
    with sqlite3.connect(lab / DATABASE) as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(statement)


def test_a_lab_that_is_deleted_is_said_and_comes_back(path: Path, tmp_path: Path):
    with site(path) as made:
        assert len(names(made.ask("/").text)) == 2
        path.rename(tmp_path / "elsewhere")
        made.pages._listed = (0.0, ())
        answer = made.ask("/")
        assert answer.status == 503
        assert "cannot be read: No such file or directory" in answer.text
        (tmp_path / "elsewhere").rename(path)
        assert len(names(made.ask("/").text)) == 2


def test_another_lab_in_its_place_is_shown(path: Path):
    with site(path) as made:
        made.ask("/")
        shutil.rmtree(path)
        with Lab.open(path, write=True) as lab:
            make_run(lab, 5, 4, 2)
        made.pages._listed = (0.0, ())
        assert len(names(made.ask("/").text)) == 1


def test_a_lab_that_a_newer_version_has_upgraded_is_said(path: Path):
    with site(path) as made:
        made.ask("/")
        change(path, f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
        made.pages._listed = (0.0, ())
        answer = made.ask("/")
        assert answer.status == 503
        assert "written by a newer mydyno" in answer.text


def test_a_trial_with_damaged_numbers_is_shown_as_such_and_the_rest_works(path: Path):
    with site(path) as made:
        first, second = names(made.ask("/").text)
        change(path, f"UPDATE trials SET seconds = 'long' WHERE trial_id = 't002' AND run_id = "
               f"(SELECT run_id FROM runs WHERE folder = '{first}')")  # fmt: skip
        page = made.ask(f"/runs/{first}").text
        assert '<td class="cell damaged" data-trial="t002"' in page
        assert page.count('class="cell valid" data-trial') == 3
        assert "cannot be judged" in page
        assert made.ask(f"/runs/{second}").text.count('class="cell valid" data-trial') == 4
        assert len(names(made.ask("/").text)) == 2


def test_a_trial_whose_series_is_cut_off_is_shown_as_damaged(path: Path):
    with site(path) as made:
        first, _ = names(made.ask("/").text)
        series = path / "runs" / first / "trials" / "t003" / "samples.parquet"
        series.write_bytes(series.read_bytes()[:20])
        page = made.ask(f"/runs/{first}").text
        assert '<td class="cell damaged" data-trial="t003"' in page
        assert "not a whole Parquet file" in page
        assert 'svg class="narrowing' in page, "its numbers remain"


def test_a_damaged_run_is_listed_with_its_fault(path: Path):
    with site(path) as made:
        change(path, "UPDATE runs SET planned_trials = 'many' WHERE run_id = 1")
        made.pages._listed = (0.0, ())
        page = made.ask("/").text
        assert len(names(page)) == 2
        assert "damaged" in page
        assert "planned: Input should be a valid integer" in page


def test_a_plan_and_events_that_cannot_be_read_are_left_out(path: Path):
    with site(path) as made:
        first, _ = names(made.ask("/").text)
        (path / "runs" / first / "plan.json").write_bytes(b"\xff{")
        (path / "runs" / first / "events.jsonl").write_bytes(
            b'{"type": "trial-started"}\n[]\n\x00\xff\nnull\n'
        )
        page = made.ask(f"/runs/{first}").text
        assert page.count('class="cell valid" data-trial') == 4
