"""Every file in bad/ is refused, in exactly the words of the .txt file beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.spec.golden import BAD, complaint
from mydyno.lab import spec

FILES = sorted(BAD.glob("*.yaml"))


def name(file: Path) -> str:
    return file.stem


def test_there_are_enough_bad_files_and_each_has_its_message() -> None:
    assert len(FILES) >= 40
    assert {file.stem for file in FILES} == {file.stem for file in BAD.glob("*.txt")}


@pytest.mark.parametrize("file", FILES, ids=name)
def test_a_bad_file_is_refused_with_the_expected_message(file: Path) -> None:
    assert complaint(file) == file.with_suffix(".txt").read_text("utf-8")


@pytest.mark.parametrize("file", FILES, ids=name)
def test_every_problem_of_a_bad_file_points_at_a_place_in_it(file: Path) -> None:
    lines = file.read_bytes().decode("utf-8", "replace").split("\n")
    places = [line.split(":", 3)[1:3] for line in complaint(file).splitlines()]
    for line, column in places:
        assert 1 <= int(line) <= len(lines)
        assert 1 <= int(column) <= len(lines[int(line) - 1]) + 1


def test_a_missing_file_names_the_file_that_was_probably_meant(tmp_path: Path) -> None:
    (tmp_path / "thread-cache.yaml").write_text("experiment: thread-cache\n")
    with pytest.raises(spec.SpecErrors) as caught:
        spec.load(tmp_path / "thread-cash.yaml")
    assert str(caught.value) == (
        f"{tmp_path}/thread-cash.yaml: there is no such file (did you mean '{tmp_path}/thread-cache.yaml'?)"
    )


def test_a_missing_file_in_a_missing_folder_has_no_neighbour(tmp_path: Path) -> None:
    with pytest.raises(spec.SpecErrors) as caught:
        spec.load(tmp_path / "nowhere" / "thread-cache.yaml")
    assert str(caught.value) == f"{tmp_path}/nowhere/thread-cache.yaml: there is no such file"


def test_a_folder_is_no_experiment(tmp_path: Path) -> None:
    with pytest.raises(spec.SpecErrors, match="the file cannot be read: Is a directory"):
        spec.load(tmp_path)


def test_a_file_that_is_much_too_large_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_bytes(b"# " + b"x" * (256 * 1024))
    with pytest.raises(spec.SpecErrors, match="too large for an experiment; allowed: at most 256K"):
        spec.load(file)


@pytest.mark.parametrize("brackets", [60, 100_000])
def test_nesting_without_end_is_refused(brackets: int) -> None:
    with pytest.raises(spec.SpecErrors, match="nested too deeply"):
        spec.loads("a: " + "[" * brackets + "]" * brackets, "deep.yaml")


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b"])
def test_a_control_character_is_shown_with_its_number_and_place(character: str) -> None:
    with pytest.raises(spec.SpecErrors) as caught:
        spec.loads(f"experiment: a\nquestion: b{character}\n", "odd.yaml")
    assert str(caught.value) == (
        f"odd.yaml:2:12: a character that YAML does not allow (got U+{ord(character):04X})"
    )


def test_errors_of_one_file_end_the_program_as_a_wrong_experiment_does() -> None:
    with pytest.raises(spec.SpecErrors) as caught:
        spec.loads("", "empty.yaml")
    assert caught.value.exit_code == 2
