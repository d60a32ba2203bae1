"""Data files: made when they are missing, refused when they are stale."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.workload.smack.builders import script
from mydyno.core.document.problems import SpecErrors
from mydyno.core.errors import ServerError, UsageError
from mydyno.lab.load.smack import Settings, data
from mydyno.lab.workload.smack import inspect
from mydyno.lab.workload.smack.grammar import Section


def table(command: str, file: str = "t.dat") -> Section:
    attributes = f'client "a"; data_file "{file}"; gen_data_file "{command}";'
    return script(f'client "a" {{ user "u"; }} table "t" {{ {attributes} }}').sections[1]


def populate(path: Path, command: str, **settings: bool) -> list[str]:
    """Notes and output of making the file."""
    said: list[str] = []
    data.populate(table(command), path.parent, Settings(**settings), lambda kind, text: said.append(text))  # type: ignore[arg-type]
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
    assert data.read_rows(tmp_path, "t.dat") == [["a", None], ["b", "2"]]


@pytest.mark.parametrize("name", ["/tmp/mydyno-outside", "../outside", "a/../../outside"])
def test_a_data_file_outside_its_folder_is_refused_at_its_line(tmp_path: Path, name: str) -> None:
    text = (
        f'client "a" {{ user "u"; }} table "t" {{ client "a"; data_file "{name}"; '
        'gen_data_file "gen-data -n 3 -f %n"; }'
    )
    with pytest.raises(SpecErrors, match=r"test\.smack:1:\d+: data_file: the path (is absolute|leads out)"):
        inspect.check(script(text), [])


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "sub").symlink_to(outside)
    section = table("gen-data -n 3 -f %n", file="sub/t.dat")
    with pytest.raises(UsageError, match="the path has a symbolic link in it"):
        data.populate(section, inside, Settings(), lambda kind, text: None)
    assert list(outside.iterdir()) == []


def test_a_link_in_place_of_the_data_file_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "t.dat").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match=r"t\.dat: it is a symbolic link"):
        populate(tmp_path / "t.dat", "gen-data -n 3 -f %n")
    with pytest.raises(UsageError, match=r"t\.dat: it is a symbolic link"):
        data.read_rows(tmp_path, "t.dat")
    assert (tmp_path / "t.dat").is_symlink()


def test_a_data_file_too_large_to_be_held_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="would have up to 257,000,000,000 bytes"):
        populate(tmp_path / "t.dat", "gen-data -n 1000000000 -f %s")
    assert list(tmp_path.iterdir()) == []
