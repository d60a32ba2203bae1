from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lab.stack.datasets.builders import put

from mydyno.cli.main import main
from mydyno.lab.results.store import Lab

Command = Callable[..., tuple[object, str, str]]


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`mydyno datasets` on a lab with a whole dataset and a damaged one: exit code, output, errors."""
    lab = tmp_path / "lab"
    Lab.open(lab, write=True).close()
    put(lab, "a" * 16)
    (put(lab, "b" * 16) / "manifest.json").write_text("{")
    monkeypatch.setenv("MYDYNO_LAB", str(lab))

    def run(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["mydyno", "datasets", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        result = capsys.readouterr()
        return ended.value.code, result.out, result.err

    return run


def test_datasets_are_listed_with_their_figures_and_the_damaged_with_the_way_out(datasets: Command) -> None:
    _, shown, _ = datasets("list")
    header, first, damaged, hint = shown.splitlines()
    assert header.split() == ["name", "workload", "rows", "size", "release", "last", "used"]
    assert first.startswith("oltp-read-only-aaaaaa  oltp-read-only  20,000    1M  MariaDB 10.11.6")
    assert damaged.startswith("dataset-bbbbbb  its manifest is damaged")
    assert hint == "  hint: mydyno datasets remove dataset-bbbbbb"
    document = json.loads(datasets("list", "--json")[1])
    assert [each["name"] for each in document] == ["oltp-read-only-aaaaaa", "dataset-bbbbbb"]
    assert document[0]["tables"]["mydyno.sbtest1"] == {"rows": 10_000, "checksum": 123456}


def test_datasets_are_removed_by_name_and_all_at_once(datasets: Command) -> None:
    assert datasets("remove", "dataset-bbbbbb") == (0, "removed dataset-bbbbbb\n", "")
    assert datasets("remove", "--unused-for", "30d") == (0, "nothing to remove\n", "")
    assert datasets("remove", "--all") == (0, "removed oltp-read-only-aaaaaa, 1M\n", "")
    assert "has no dataset" in datasets("list")[1]


def test_nothing_is_removed_while_a_run_uses_the_lab(datasets: Command, tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab", write=True):
        code, _, errors = datasets("remove", "--all")
    assert code == 5
    assert "in use by another mydyno" in errors
    assert "oltp-read-only-aaaaaa" in datasets("list")[1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["remove"], "which datasets?"),
        (["remove", "a", "--all"], "one of the three"),
        (["remove", "--unused-for", "30"], "--unused-for 30: without a unit"),
        (["remove", "nothing"], "unknown dataset nothing"),
        (["verify", "nothing"], "unknown dataset nothing"),
        (["verify", "dataset-bbbbbb"], "cannot be used"),
        (["remove", "--all", "--lab", "/nowhere"], "there is no lab at /nowhere"),
    ],
)
def test_what_cannot_be_done_says_why_and_removes_nothing(
    datasets: Command, arguments: list[str], expected: str
) -> None:
    code, _, errors = datasets(*arguments)
    assert code in (2, 5)
    assert expected in errors
    assert "oltp-read-only-aaaaaa" in datasets("list")[1]
