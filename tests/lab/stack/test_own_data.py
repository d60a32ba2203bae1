"""What a path of the user's holds, and the statements of an SQL file."""

import io
from pathlib import Path

import pytest

from mydyno.core.errors import UsageError
from mydyno.core.server_version import parse_version
from mydyno.lab.stack.own_data.copying import refuse_unreachable
from mydyno.lab.stack.own_data.loading import mydumper_order
from mydyno.lab.stack.own_data.source import OwnData, recognise
from mydyno.lab.stack.own_data.statements import statements


def split(text: str) -> list[tuple[int, str]]:
    return [(line, sql.decode()) for line, sql in statements(io.BytesIO(text.encode()), "f.sql")]


def test_statements_end_at_semicolons_outside_of_quotes_and_comments() -> None:
    text = "SELECT ';', \"a;b\", `c;d` /* ; */; -- no ; here\n# nor ; here\nSELECT 'it''s \\' ;';"
    assert [sql for _, sql in split(text)] == [
        "SELECT ';', \"a;b\", `c;d` /* ; */",
        "-- no ; here\n# nor ; here\nSELECT 'it''s \\' ;'",
    ]


def test_comments_alone_are_no_statements_and_version_comments_are() -> None:
    assert split("-- dump\n/* by hand */;\n/*!40101 SET NAMES utf8 */;\n/*M! SET x = 1 */;") == [
        (3, "/*!40101 SET NAMES utf8 */"),
        (4, "/*M! SET x = 1 */"),
    ]


def test_delimiter_lines_change_what_ends_a_statement() -> None:
    text = "DELIMITER ;;\nCREATE TRIGGER t BEGIN SET a = 1; SET b = 2; END ;;\nDELIMITER ;\nSELECT 1;\n"
    assert split(text) == [(2, "CREATE TRIGGER t BEGIN SET a = 1; SET b = 2; END"), (4, "SELECT 1")]


@pytest.mark.parametrize("portion", [1, 2, 3, 7])
def test_where_a_file_is_cut_into_portions_does_not_matter(
    portion: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "delimiter //\nselect 'a//b' -- x // y\n//\ndelimiter ;\ninsert into d values (';');\n"
    text += "/* ; */ select 2;"
    whole = split(text)
    monkeypatch.setattr("mydyno.lab.stack.own_data.statements._PORTION", portion)
    assert split(text) == whole
    assert [line for line, _ in whole] == [2, 5, 6]


def test_a_statement_that_does_not_end_is_an_error_with_its_line() -> None:
    with pytest.raises(UsageError, match=r"f\.sql: the statement of line 2 does not end"):
        split("SELECT 1;\nINSERT INTO t VALUES ('cut")


def backup(folder: Path, checkpoints: str, kind: str, info: str = "") -> Path:
    (folder / checkpoints).write_text(f"backup_type = {kind}\nfrom_lsn = 0\n")
    (folder / "xtrabackup_info").write_text(info)
    (folder / "backup-my.cnf").write_text("[mysqld]\ninnodb_page_size=8192\ninnodb_buffer_pool_size=1G\n")
    return folder


def test_a_prepared_backup_brings_the_settings_that_shape_its_files(tmp_path: Path) -> None:
    info = "tool_name = xtrabackup\nserver_version = 8.0.33\n"
    data = recognise(backup(tmp_path, "xtrabackup_checkpoints", "full-prepared", info))
    assert (data.kind, data.said) == ("backup", "MySQL 8.0.33")
    assert data.settings == {"innodb_page_size": "8192"}


@pytest.mark.parametrize(
    ("checkpoints", "kind", "info", "program"),
    [
        ("xtrabackup_checkpoints", "full-backuped", "", "xtrabackup --prepare"),
        ("xtrabackup_checkpoints", "log-applied", "", "xtrabackup --prepare"),
        ("mariadb_backup_checkpoints", "full-backuped", "", "mariadb-backup --prepare"),
        ("xtrabackup_checkpoints", "full-backuped", "tool_name = mariabackup", "mariadb-backup --prepare"),
    ],
)
def test_an_unprepared_backup_is_refused_with_what_prepares_it(
    tmp_path: Path, checkpoints: str, kind: str, info: str, program: str
) -> None:
    with pytest.raises(UsageError, match=f"not prepared .*{kind}") as error:
        recognise(backup(tmp_path, checkpoints, kind, info))
    assert error.value.hint == f"{program} --target-dir={tmp_path}"


def test_log_applied_is_prepared_where_mariadb_backup_wrote_it(tmp_path: Path) -> None:
    assert recognise(backup(tmp_path, "mariadb_backup_checkpoints", "log-applied")).family == "MariaDB"


def test_a_mydumper_folder_is_loaded_schemas_first_and_routines_last(tmp_path: Path) -> None:
    names = [
        *(
            "shop-schema-post.sql",
            "shop.v-schema-view.sql",
            "shop.orders.00000.sql",
            "shop.orders-schema.sql",
        ),
        *("shop-schema-create.sql", "shop.orders-schema-triggers.sql", "metadata"),
    ]
    for name in names:
        (tmp_path / name).write_text("")
    assert recognise(tmp_path).kind == "dump folder"
    ordered = [name.name for name, _ in mydumper_order(tmp_path)]
    assert ordered == [names[4], names[3], names[2], names[1], names[5], names[0]]
    assert {schema for _, schema in mydumper_order(tmp_path)} == {"shop"}


@pytest.mark.parametrize("name", ["data.csv", "folder"])
def test_what_cannot_be_used_is_refused_with_what_can(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    place.mkdir() if name == "folder" else place.write_text("1")
    with pytest.raises(UsageError) as error:
        recognise(place)
    assert "a prepared backup" in (error.value.hint or "")


@pytest.mark.parametrize(
    ("family", "release", "target", "message"),
    [
        ("MariaDB", (10, 5, 29), "mariadbd  Ver 10.11.6-MariaDB for Linux", None),
        ("MariaDB", (10, 11, 6), "mariadbd  Ver 10.5.29-MariaDB for Linux", "no way back"),
        ("MySQL", (5, 7, 44), "mysqld  Ver 8.0.33 for Linux", None),
        ("MySQL", (5, 7, 44), "mysqld  Ver 8.4.3 for Linux", r"the way is 5\.7 -> 8\.0 -> 8\.4"),
        ("MySQL", (5, 6, 51), "mysqld  Ver 5.7.29 for Linux", "mysql_upgrade"),
        ("MySQL", (8, 0, 33), "mariadbd  Ver 11.8.3-MariaDB for Linux", "does not read"),
    ],
)
def test_which_release_takes_which_data_directory(
    tmp_path: Path, family: str, release: tuple[int, ...], target: str, message: str | None
) -> None:
    data = OwnData(tmp_path, "folder", family, release)  # type: ignore[arg-type]
    if message is None:
        refuse_unreachable(data, parse_version(target))
        return
    with pytest.raises(UsageError, match=message) as error:
        refuse_unreachable(data, parse_version(target))
    assert "dump" in (error.value.hint or "")


def test_a_checksum_is_of_the_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYDYNO_CACHE", str(tmp_path / "cache"))
    dump = tmp_path / "a.sql"
    dump.write_text("SELECT 1;")
    first = recognise(dump).checksum()
    assert recognise(dump).checksum() == first
    dump.write_text("SELECT 22;")
    assert recognise(dump).checksum() != first
