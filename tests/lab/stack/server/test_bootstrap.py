from pathlib import Path

import pytest

from mydyno.core.errors import ServerError
from mydyno.core.server_version import parse_version
from mydyno.lab.stack.server.initialise import bootstrap_script, bootstraps
from mydyno.server.program.binary import ServerBinary

OLD_NAMES = (
    "mysql_system_tables",
    "mysql_performance_tables",
    "mysql_system_tables_data",
    "mysql_sys_schema",
)


def binary(root: Path, version: str) -> ServerBinary:
    (root / "usr/share/mysql/charsets").mkdir(parents=True, exist_ok=True)
    return ServerBinary(Path("/usr/sbin/mysqld"), parse_version(f"mysqld  Ver {version} for Linux"), {}, root)


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / "usr/share/mysql" / f"{name}.sql").write_text(f"-- {name}\n")


@pytest.mark.parametrize(
    ("version", "needs"),
    [
        *(("10.5.29-MariaDB", True), ("11.8.6-MariaDB", True), ("5.6.24", True), ("5.7.5", True)),
        *(("5.7.6", False), ("5.7.44", False), ("9.7.4", False), ("26.10", False)),
    ],
)
def test_a_server_that_makes_its_tables_by_itself_is_let_do_it(version: str, needs: bool) -> None:
    assert bootstraps(parse_version(f"mysqld  Ver {version} for Linux")) is needs


def test_scripts_are_read_from_inside_the_private_root_in_their_order(tmp_path: Path) -> None:
    server = binary(tmp_path, "10.5.29-MariaDB")
    write(tmp_path, *OLD_NAMES)
    script = bootstrap_script(server).decode()
    assert script.startswith("CREATE DATABASE mysql;\nUSE mysql;\n")
    places = [script.index(f"-- {name}\n") for name in OLD_NAMES]
    assert places == sorted(places)


def test_scripts_are_found_under_the_names_that_mariadb_11_gave_them(tmp_path: Path) -> None:
    server = binary(tmp_path, "11.8.6-MariaDB")
    write(tmp_path, *(name.replace("mysql", "mariadb") for name in OLD_NAMES))
    assert "-- mariadb_system_tables_data\n" in bootstrap_script(server).decode()


def test_an_old_mysql_keeps_one_account_which_no_network_reaches(tmp_path: Path) -> None:
    server = binary(tmp_path, "5.6.24")
    write(tmp_path, "mysql_system_tables", "mysql_system_tables_data")
    script = bootstrap_script(server).decode()
    delete = "DELETE FROM mysql.user WHERE NOT (User = 'root' AND Host = 'localhost');"
    assert script.index("-- mysql_system_tables_data\n") < script.index(delete)


def test_a_mariadb_before_10_4_makes_no_account_without_a_password(tmp_path: Path) -> None:
    server = binary(tmp_path, "10.1.23-MariaDB")
    write(tmp_path, *OLD_NAMES)
    script = bootstrap_script(server).decode()
    skipped = script.index("@skip_auth_root_nopasswd = 1, @skip_auth_anonymous = 1")
    assert skipped < script.index("-- mysql_system_tables_data\n")


def test_a_missing_script_is_named_with_the_place_searched(tmp_path: Path) -> None:
    server = binary(tmp_path, "11.8.6-MariaDB")
    write(tmp_path, "mariadb_system_tables")
    with pytest.raises(ServerError) as raised:
        bootstrap_script(server)
    assert "mariadb_performance_tables.sql or mysql_performance_tables.sql" in str(raised.value)
    assert str(tmp_path / "usr/share/mysql") in str(raised.value)
