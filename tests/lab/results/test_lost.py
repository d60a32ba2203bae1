"""A lab that is removed while a run writes it: one error that says so, whatever failed first."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from mydyno.core.errors import LabError, ServerError
from mydyno.lab.results.files import lost_series, removal_explained
from mydyno.lab.results.store import DATABASE, Lab

FAILURES = (FileNotFoundError("x"), sqlite3.OperationalError("disk I/O error"), ServerError("it ended"))


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    Lab.open(tmp_path / "lab", write=True).close()
    return tmp_path / "lab"


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_whatever_fails_in_a_removed_lab_is_its_removal(lab: Path, failure: Exception) -> None:
    shutil.rmtree(lab)
    said = f"the lab {lab} was removed while the run was in progress"
    with pytest.raises(LabError, match=said) as caught, removal_explained(lab):
        raise failure
    assert caught.value.__cause__ is failure


@pytest.mark.parametrize("folder", ["runs", "cache"])
def test_a_removal_that_is_not_at_its_end_names_the_folder(lab: Path, folder: str) -> None:
    shutil.rmtree(lab / folder)
    with pytest.raises(LabError, match=f"{lab / folder} was removed"), removal_explained(lab):
        raise LabError("cp said nothing")
    assert (lab / DATABASE).exists()


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_a_failure_in_a_whole_lab_stays_as_it_is(lab: Path, failure: Exception) -> None:
    with pytest.raises(type(failure)) as caught, removal_explained(lab):
        raise failure
    assert caught.value is failure


def test_of_many_lost_series_the_first_are_named_and_the_others_counted() -> None:
    assert lost_series(["a is damaged"]) == ("a series is lost: a is damaged",)
    assert lost_series([]) == ()
    assert len(lost_series(["x"] * 6)) == 6
    many = lost_series([f"{number} is damaged" for number in range(100)])
    assert many[0] == "a series is lost: 0 is damaged"
    assert many[-1] == "95 more series are lost"
    assert len(many) == 6
