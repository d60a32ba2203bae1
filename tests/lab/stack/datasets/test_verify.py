from __future__ import annotations

from pathlib import Path

import pytest

from lab.stack.builders import site_in
from lab.stack.datasets.builders import TABLES, manifest, put, put_old
from mydyno.core.errors import LabError, MissingToolError
from mydyno.lab.stack.datasets import DatasetStore, TableContent
from mydyno.lab.stack.datasets.tables import one_checksum
from mydyno.lab.stack.datasets.verify import differences, maker_of, verify
from mydyno.machine.local import LocalHost

ONE, TWO = TABLES


def content(rows: int, checksum: int | None) -> TableContent:
    return TableContent(rows=rows, checksum=checksum)


def test_equal_tables_have_no_difference_and_one_checksum() -> None:
    assert list(differences(TABLES, dict(TABLES))) == []
    assert one_checksum(TABLES) == one_checksum({TWO: TABLES[TWO], ONE: TABLES[ONE]})


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({ONE: TABLES[ONE]}, f"{TWO}: is gone (10,000 rows at the freeze)"),
        (TABLES | {"mydyno.new": content(1, 2)}, "mydyno.new: did not exist when the dataset was frozen"),
        (TABLES | {TWO: content(9_999, 654321)}, f"{TWO}: 9,999 rows, 10,000 at the freeze"),
        (TABLES | {TWO: content(10_000, 7)}, f"{TWO}: its 10,000 rows have checksum 7, not 654321"),
        (TABLES | {TWO: content(10_000, None)}, f"{TWO}: its 10,000 rows have checksum None, not 654321"),
    ],
)
def test_whatever_differs_is_said_and_changes_the_one_checksum(
    now: dict[str, TableContent], expected: str
) -> None:
    assert list(differences(TABLES, now)) == [expected]
    assert one_checksum(now) != one_checksum(TABLES)


def test_a_dataset_without_checksums_and_a_damaged_one_cannot_be_verified(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    put_old(tmp_path)
    store = DatasetStore(tmp_path)
    with pytest.raises(LabError, match="older mydyno, which stored no checksums"):
        verify(site, store.find("dataset-012345"))
    (put(tmp_path, "d" * 16) / "manifest.json").write_text("{")
    with pytest.raises(LabError, match="cannot be used: its manifest is damaged"):
        verify(site, store.find("dataset-dddddd"))


def test_without_a_server_of_its_release_none_is_started(tmp_path: Path) -> None:
    of_another = manifest("a" * 16, release="MySQL 4.1.22", binary="/nowhere/mysqld")
    with pytest.raises(
        MissingToolError, match=r"is of MySQL 4\.1\.22, and no server of this release is installed"
    ):
        maker_of(LocalHost(), of_another)


@pytest.mark.parametrize(
    "settings", [{"plugin_dir": "/tmp/x"}, {"innodb_undo_directory": "/tmp/x"}, {"init_connect": "SELECT 1"}]
)
def test_a_foreign_lab_starts_no_server_with_its_own_settings(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    put(tmp_path, "d" * 16, settings=settings)
    site = site_in(tmp_path)
    with pytest.raises(LabError, match=f"its manifest has the setting {next(iter(settings))}"):
        verify(site, DatasetStore(tmp_path).find("dataset-dddddd"))


def test_a_foreign_lab_names_no_program_that_is_run(tmp_path: Path) -> None:
    program, seen = tmp_path / "mysqld", tmp_path / "seen"
    program.write_text(f"#!/bin/sh\ntouch {seen}\n")
    program.chmod(0o755)
    with pytest.raises(MissingToolError):
        maker_of(LocalHost(), manifest("a" * 16, release="MySQL 4.1.22", binary=str(program)))
    assert not seen.exists()
