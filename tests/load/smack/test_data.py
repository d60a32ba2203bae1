"""Data files: made when they are missing, refused when they are stale."""

from __future__ import annotations

from pathlib import Path

import pytest
from workload.smack.builders import script

from mydyno.core.errors import ServerError, UsageError
from mydyno.load.smack import Settings, data
from mydyno.workload.smack.grammar import Section


def table(command: str) -> Section:
    attributes = f'client "a"; data_file "t.dat"; gen_data_file "{command}";'
    return script(f'client "a" {{ user "u"; }} table "t" {{ {attributes} }}').sections[1]


def populate(path: Path, command: str, **settings: bool) -> list[str]:
    """Notes and output of making the file."""
    said: list[str] = []
    data.populate(table(command), path, Settings(**settings), lambda kind, text: said.append(text))  # type: ignore[arg-type]
    return said


def test_a_missing_file_is_made_by_our_gen_data(tmp_path: Path) -> None:
    path = tmp_path / "t.dat"
    populate(path, "gen-data -n 3 -f %n,x")
    assert path.read_text() == "1,x\n2,x\n3,x\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1,x\n2,x\n", "it has 2 lines, its gen-data command makes 3"),
        ("1\n2\n3\n", "not all of its lines have 2 fields"),
    ],
)
def test_a_stale_file_is_refused_and_under_strict_compat_used_as_it_is(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "t.dat"
    path.write_text(content)
    with pytest.raises(UsageError, match=message):
        populate(path, "gen-data -n 3 -f %n,x")
    [note] = populate(path, "gen-data -n 3 -f %n,x", strict=True)
    assert "[stale-data-file]" in note
    assert path.read_text() == content


def test_a_file_that_fits_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.dat"
    path.write_text("7,x\n8,x\n9,x\n")
    assert populate(path, "gen-data -n 3 -f %n,x") == []
    assert path.read_text() == "7,x\n8,x\n9,x\n"


def test_another_command_is_refused_unless_it_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "t.dat"
    with pytest.raises(UsageError, match=r"'seq 3'.*\n.*--allow-commands"):
        populate(path, "seq 3")
    assert not path.exists()
    assert "running 'seq 3'" in populate(path, "seq 3", allow_commands=True)
    assert path.read_text() == "1\n2\n3\n"


def test_a_command_that_fails_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "t.dat"
    with pytest.raises(ServerError, match="'echo 1; false' failed with exit code 1"):
        populate(path, "echo 1; false", allow_commands=True)
    assert list(tmp_path.iterdir()) == []


def test_a_table_without_a_command_needs_its_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no gen_data_file to make it"):
        populate(tmp_path / "t.dat", "")


def test_rows_are_fields_between_commas_with_null(tmp_path: Path) -> None:
    path = tmp_path / "t.dat"
    path.write_text("a,\\N\nb,2")
    assert data.rows(path) == [["a", None], ["b", "2"]]
