import pytest
from stack.builders import MARIADB_VERSION, MYSQL_VERSION

from mydyno.core.errors import ServerError
from mydyno.core.server_version import Vendor, parse_version

SERVERS = {
    MARIADB_VERSION: (Vendor.MARIADB, (10, 11, 19)),
    "mariadbd  Ver 11.8.6-MariaDB-0+deb13u1 from Debian for debian-linux-gnu on x86_64 (-- Please help)": (
        Vendor.MARIADB,
        (11, 8, 6),
    ),
    "/usr/sbin/mysqld  Ver 10.3.39-MariaDB-0+deb10u2 for debian-linux-gnu on x86_64 (Debian 10)": (
        Vendor.MARIADB,
        (10, 3, 39),
    ),
    MYSQL_VERSION: (Vendor.MYSQL, (9, 7, 4)),
    "mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)": (Vendor.MYSQL, (8, 0, 36)),
    "/usr/sbin/mysqld  Ver 8.0.35-0ubuntu0.22.04.1 for Linux on x86_64 ((Ubuntu))": (
        Vendor.MYSQL,
        (8, 0, 35),
    ),
    "mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64 (MySQL Community Server (GPL))": (
        Vendor.MYSQL,
        (5, 6, 24),
    ),
    "mysqld  Ver 26.10 for Linux on x86_64 (MySQL Community Server - GPL)": (Vendor.MYSQL, (26, 10, 0)),
    "mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)": (
        Vendor.PERCONA,
        (8, 0, 36),
    ),
}


@pytest.mark.parametrize(("line", "expected"), SERVERS.items())
def test_the_release_is_read_as_numbers(line: str, expected: tuple[Vendor, tuple[int, int, int]]) -> None:
    version = parse_version(line)
    assert (version.vendor, version.numbers) == expected


@pytest.mark.parametrize(
    "line",
    [
        "",
        "sleep (GNU coreutils) 9.1",
        "mysql  Ver 15.1 Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64) using  EditLine wrapper",
        "mariadb from 11.8.6-MariaDB, client 15.2 for debian-linux-gnu (x86_64) using EditLine wrapper",
    ],
)
def test_what_is_no_server_is_refused_with_its_own_words(line: str) -> None:
    with pytest.raises(ServerError, match="not a MySQL or MariaDB server") as caught:
        parse_version(line)
    assert line in caught.value.message


def test_releases_are_ordered_by_number_and_not_by_text() -> None:
    older, newer, calendar = (
        parse_version(f"mysqld  Ver {number} for Linux on x86_64") for number in ("8.0.9", "8.0.36", "26.10")
    )
    assert older < newer < calendar


def test_a_release_is_named_with_its_maker() -> None:
    assert str(parse_version(MARIADB_VERSION)) == "MariaDB 10.11.19"
    assert str(parse_version(MYSQL_VERSION)) == "MySQL 9.7.4"
