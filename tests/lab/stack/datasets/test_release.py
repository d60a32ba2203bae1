from __future__ import annotations

from pathlib import Path

import pytest

from mydyno.core.errors import LabError
from mydyno.lab.stack.datasets.manifest import recorded_releases, refuse_another_release


def redo_log(path: Path, creator: bytes) -> Path:
    """The header of a redo log's first file: format, LSN, and who made it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(16) + creator.ljust(32, b"\0") + bytes(464))
    return path


def test_the_redo_log_names_its_creator_wherever_the_release_keeps_it(tmp_path: Path) -> None:
    redo_log(tmp_path / "maria" / "ib_logfile0", b"MariaDB 10.11.19")
    redo_log(tmp_path / "mysql" / "#innodb_redo" / "#ib_redo7", b"MySQL 9.7.4")
    assert recorded_releases(tmp_path / "maria") == {"redo log": "MariaDB 10.11.19"}
    assert recorded_releases(tmp_path / "mysql") == {"redo log": "MySQL 9.7.4"}


def test_old_releases_and_empty_folders_name_no_creator_and_are_not_refused(tmp_path: Path) -> None:
    redo_log(tmp_path / "ib_logfile0", b"")
    assert recorded_releases(tmp_path) == recorded_releases(tmp_path / "nowhere") == {}
    refuse_another_release(tmp_path, "MySQL 5.6.24")


@pytest.mark.parametrize(
    ("creator", "release"),
    [
        (b"MariaDB 10.11.19", "MariaDB 10.11.19"),
        (b"MySQL 8.4.6", "Percona Server 8.4.6-6"),
        (b"MySQL 26.10", "MySQL 26.10"),
    ],
)
def test_data_of_its_own_release_is_taken(tmp_path: Path, creator: bytes, release: str) -> None:
    redo_log(tmp_path / "ib_logfile0", creator)
    refuse_another_release(tmp_path, release)


@pytest.mark.parametrize("release", ["MariaDB 10.11.6", "MariaDB 11.8.6", "MySQL 10.11.19"])
def test_data_of_another_release_is_refused_with_the_way_out(tmp_path: Path, release: str) -> None:
    redo_log(tmp_path / "d" / "data" / "ib_logfile0", b"MariaDB 10.11.19")
    with pytest.raises(LabError, match=r"its redo log is of MariaDB 10\.11\.19") as caught:
        refuse_another_release(tmp_path / "d" / "data", release)
    assert "datasets remove d" in (caught.value.hint or "")


def test_the_mark_of_an_upgrade_counts_too(tmp_path: Path) -> None:
    redo_log(tmp_path / "ib_logfile0", b"MariaDB 10.11.19")
    (tmp_path / "mysql_upgrade_info").write_text("11.4.2-MariaDB\0")
    with pytest.raises(LabError, match=r"its mysql_upgrade_info is of 11\.4\.2-MariaDB"):
        refuse_another_release(tmp_path, "MariaDB 10.11.19")
