"""What differs between the sides, and the settings that each release takes."""

from pathlib import Path

import pytest

from mydyno.core.errors import UsageError
from mydyno.lab.stack import find_binary, inspect_binary
from mydyno.machine.local import LocalHost
from mydyno.rehearse.experiment import Proposal
from mydyno.rehearse.sides import sides_of, with_settings

A, B, CHANGE = Path("a.cnf"), Path("b.cnf"), Path("index.sql")


def test_two_releases_share_a_settings_file_or_have_one_each() -> None:
    assert [side.said for side in sides_of(["x", "y"], [A], None)] == [
        "x, settings of a.cnf",
        "y, settings of a.cnf",
    ]
    assert [side.settings_file for side in sides_of(["x", "y"], [A, B], None)] == [A, B]
    assert [side.settings_file for side in sides_of(["x", "y"], [], None)] == [None, None]


def test_one_release_has_two_settings_or_two_schemas() -> None:
    assert [side.name for side in sides_of([], [A, B], None)] == ["a", "b"]
    plain, changed = sides_of(["x"], [A], CHANGE)
    assert (plain.schema_change, changed.schema_change, changed.settings_file) == (None, CHANGE, A)


def test_the_same_release_twice_has_two_names() -> None:
    assert [side.name for side in sides_of(["x", "x"], [], None)] == ["x", "x (2)"]


@pytest.mark.parametrize(
    ("releases", "settings", "change"),
    [
        (["x"], [], None),
        (["x"], [A], None),
        (["x", "y"], [], CHANGE),
        (["x"], [A, B], CHANGE),
        (["x", "y"], [A] * 3, None),
    ],
)
def test_one_side_and_two_differences_at_once_are_refused(
    releases: list[str], settings: list[Path], change: Path | None
) -> None:
    with pytest.raises(UsageError):
        sides_of(releases, settings, change)


def test_settings_are_translated_and_what_a_private_server_has_of_its_own_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nport = 3307\nsort-buffer-size = 4M\nno_such_setting = 1\n[client]\nuser = x\n")
    (side, _) = sides_of(["system", "system"], [file], None)
    read = with_settings(side, inspect_binary(LocalHost(), find_binary()))
    assert read.settings == {"sort_buffer_size": "4M"}
    assert [note.partition(" is left out")[0] for note in read.notes] == ["port", "no_such_setting"]


def test_the_experiment_file_has_a_level_for_each_side() -> None:
    text = Proposal("r", Path("/t.trace"), Path("/d.sql"), None, sides_of(["x"], [], CHANGE), 3, "max").text
    assert "      data.schema_change:" in text
    assert '    "as it is":' in text
    assert "repeats: 3" in text
