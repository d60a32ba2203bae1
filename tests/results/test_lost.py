"""A lab that is removed while a run writes it: one error that says so, whatever failed first."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from mydyno.core.errors import LabError, ServerError
from mydyno.results.lost import removal_explained
from mydyno.results.store import DATABASE, Lab

FAILURES = (FileNotFoundError("x"), sqlite3.OperationalError("disk I/O error"), ServerError("it ended"))


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    Lab.open(tmp_path / "lab", write=True).close()
    return tmp_path / "lab"


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_whatever_fails_in_a_removed_lab_is_its_removal(lab: Path, failure: Exception) -> None:
    shutil.rmtree(lab)
    said = f"the lab {lab} was removed while the run was at work"
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
