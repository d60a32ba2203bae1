"""Every file in bad/ is refused, in exactly the words of the .txt file next to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.workload.golden import BAD, complaint
from mydyno.core.document.problems import SpecErrors
from mydyno.lab import workload

FILES = sorted(BAD.glob("*.yaml"))


def name(file: Path) -> str:
    return file.stem


def test_there_are_enough_bad_files_and_each_has_its_message() -> None:
    assert len(FILES) >= 80
    assert {file.stem for file in FILES} == {file.stem for file in BAD.glob("*.txt")} - {"words"}


@pytest.mark.parametrize("file", FILES, ids=name)
def test_a_bad_file_is_refused_with_the_expected_message(file: Path) -> None:
    assert complaint(file) == file.with_suffix(".txt").read_text("utf-8")


@pytest.mark.parametrize("file", FILES, ids=name)
def test_every_problem_of_a_bad_file_points_at_a_place_in_it(file: Path) -> None:
    for line in complaint(file).splitlines():
        where, number, column = line.split(":", 3)[:3]
        lines = (BAD / where).read_text("utf-8").split("\n")
        assert 1 <= int(number) <= len(lines)
        assert 1 <= int(column) <= len(lines[int(number) - 1]) + 1


def test_a_workload_that_does_not_exist_names_the_one_that_was_probably_meant() -> None:
    with pytest.raises(SpecErrors) as caught:
        workload.read("oltp-read-wirte")
    assert "did you mean 'oltp-read-write'?" in str(caught.value)
    with pytest.raises(SpecErrors, match="there is no such file"):
        workload.read(Path("nowhere.yaml"))


def test_nesting_without_end_is_refused() -> None:
    deep = "transactions: {a: " + "[{steps: " * 22 + "[SELECT 1]" + "}]" * 22 + "}"
    with pytest.raises(SpecErrors, match="nested too deeply"):
        workload.reads(f"workload: a\n{deep}\n", "deep.yaml")
    with pytest.raises(SpecErrors, match=r"this is not an expression|nested too deeply"):
        workload.reads(f"workload: a\nvalues: {{id: {'-' * 5000}1}}\n", "deep.yaml")
