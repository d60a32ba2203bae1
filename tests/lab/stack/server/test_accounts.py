import pytest

from lab.stack.builders import MARIADB_VERSION, MYSQL_VERSION
from mydyno.core.secrets import Secret
from mydyno.core.server_version import parse_version
from mydyno.lab.stack.server.accounts import init_file, native_hash, set_password


def test_the_native_hash_is_that_of_the_manual() -> None:
    # SELECT PASSWORD('password') of any MySQL before 8.0 and any MariaDB.
    assert native_hash(Secret("password")) == "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19"


def test_mariadb_never_sees_the_password_itself() -> None:
    password = Secret.random()
    statements = set_password(parse_version(MARIADB_VERSION), password, over_network=True)
    assert not any(password.reveal() in statement for statement in statements)
    assert native_hash(password) in statements[-1]


@pytest.mark.parametrize(
    "line",
    [
        "mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64",
        "mysqld  Ver 10.1.23-MariaDB for Linux on x86_64 (MariaDB Server)",
    ],
)
def test_a_server_whose_alter_user_sets_no_password_is_given_the_hash_by_grant(line: str) -> None:
    password = Secret.random()
    _, local, network = set_password(parse_version(line), password, over_network=True)
    for statement, host in ((local, "localhost"), (network, "127.0.0.1")):
        assert statement == (
            f"GRANT ALL PRIVILEGES ON *.* TO 'root'@'{host}' "
            f"IDENTIFIED BY PASSWORD '{native_hash(password)}' WITH GRANT OPTION"
        )


def test_mariadb_10_2_has_alter_user() -> None:
    version = parse_version("mysqld  Ver 10.2.11-MariaDB for Linux on x86_64 (MariaDB Server)")
    assert set_password(version, Secret("x"), over_network=False)[1].startswith("ALTER USER")


@pytest.mark.parametrize("line", [MARIADB_VERSION, MYSQL_VERSION])
def test_an_account_for_the_network_is_made_only_when_there_is_one(line: str) -> None:
    without, with_network = (
        " ".join(set_password(parse_version(line), Secret("x"), over_network=network))
        for network in (False, True)
    )
    assert "'root'@'localhost'" in without
    assert "127.0.0.1" not in without
    assert "'root'@'127.0.0.1'" in with_network


def test_statements_are_kept_out_of_the_binary_log() -> None:
    assert set_password(parse_version(MYSQL_VERSION), Secret("x"), over_network=False)[0] == (
        "SET SESSION sql_log_bin = 0"
    )


def test_an_init_file_holds_one_statement_a_line() -> None:
    assert init_file(["SELECT 1", "SELECT 2"]) == b"SELECT 1;\nSELECT 2;\n"
