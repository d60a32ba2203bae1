"""Files in bad/ are refused and files in traps/ are warned of, in the words of the .txt next to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.workload.smack.golden import BAD, TRAPS, complaint, warnings
from mydyno.lab.workload.smack.traps import TRAPS as KNOWN

# Traps of data files and of dictionaries' files, which the text alone does not show.
_OF_DATA = {"sampled-dictionary", "last-line-without-newline", "long-line", "stale-data-file"}


@pytest.mark.parametrize("file", sorted(BAD.glob("*.smack")), ids=lambda file: file.stem)
def test_a_bad_file_is_refused_with_the_expected_message_at_a_place_in_it(file: Path) -> None:
    said = complaint(file)
    assert said == file.with_suffix(".txt").read_text()
    lines = file.read_text().split("\n")
    for problem in said.splitlines():
        line, column = problem.split(":", 3)[1:3]
        assert 1 <= int(line) <= len(lines)
        assert 1 <= int(column) <= len(lines[int(line) - 1]) + 1


@pytest.mark.parametrize("file", sorted(TRAPS.glob("*.smack")), ids=lambda file: file.stem)
def test_a_trap_is_warned_of_by_name_with_what_is_done_about_it(file: Path) -> None:
    said = warnings(file)
    assert said == file.with_suffix(".txt").read_text()
    assert f"[{file.stem}]" in said


def test_every_trap_has_a_file_or_is_one_of_the_data() -> None:
    said = "".join(file.read_text() for file in TRAPS.glob("*.txt"))
    assert {name for name in KNOWN if f"[{name}]" not in said} == _OF_DATA
