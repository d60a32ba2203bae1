import pytest

from mydyno.core.server_version import Vendor, parse_version
from mydyno.server.releases import KNOWN, known_release
from mydyno.server.releases.provider import Series, series_of, series_of_package

MARIADB_10_5 = Series(Vendor.MARIADB, (10, 5))


def test_a_name_says_what_a_release_has_to_be() -> None:
    assert series_of("mariadb-10.5") == MARIADB_10_5
    assert series_of("mysql-26.10") == Series(Vendor.MYSQL, (26, 10))
    assert MARIADB_10_5.name == "mariadb-10.5"
    assert str(MARIADB_10_5) == "MariaDB 10.5"


@pytest.mark.parametrize("name", ["system", "my-build", "mysql-9", "mysql-9.7.4", "percona-8.0", "MySQL-9.7"])
def test_other_names_say_nothing(name: str) -> None:
    assert series_of(name) is None


@pytest.mark.parametrize(
    ("said", "is_it"), [("10.5.29-MariaDB", True), ("10.50.1-MariaDB", False), ("10.5.29", False)]
)
def test_vendor_and_two_numbers_have_to_be_equal(said: str, is_it: bool) -> None:
    assert MARIADB_10_5.has(parse_version(f"mysqld  Ver {said} for Linux")) is is_it


@pytest.mark.parametrize("version", ["1:10.5.29-0+deb11u1", "10.5.29-1", "10.5"])
def test_a_packages_version_shows_it_too(version: str) -> None:
    assert series_of_package(Vendor.MARIADB, version) == MARIADB_10_5


def test_what_is_newer_than_all_that_is_settled_is_looked_for_where_debian_moves() -> None:
    newer = known_release("mariadb-12.3")
    assert newer is not None
    assert (newer.version, newer.source) == ("MariaDB 12.3", "Debian sid: mariadb-server-core")
    assert known_release("mysql-9.7") is KNOWN["mysql-9.7"]


@pytest.mark.parametrize("name", ["mariadb-10.6", "mariadb-10.11.6", "mysql-5.1", "mysql-8.4", "my-build"])
def test_what_is_older_was_left_behind_and_cannot_be_had(name: str) -> None:
    assert known_release(name) is None
