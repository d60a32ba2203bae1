import pytest
from lab.stack.builders import MARIADB_VERSION, MYSQL_VERSION

from mydyno.core.errors import ServerError
from mydyno.core.server_version import Vendor, parse_version

SERVERS = {
    MARIADB_VERSION: (Vendor.MARIADB, (10, 11, 19)),
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
    "/opt/mysql-5.6/bin/mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64 (MySQL Community Server (GPL))": (
        Vendor.MYSQL,
        (5, 6, 24),
    ),
    "/usr/sbin/mariadbd  Ver 10.5.29-MariaDB-0+deb11u1 for debian-linux-gnu on x86_64 (Debian 11)": (
        Vendor.MARIADB,
        (10, 5, 29),
    ),
    "/usr/sbin/mariadbd  Ver 11.8.6-MariaDB-0+deb13u1 from Debian for debian-linux-gnu on x86_64 "
    "(-- Please help get to 10k stars at https://github.com/MariaDB/Server)": (Vendor.MARIADB, (11, 8, 6)),
    "mysqld  Ver 4.1.22 for pc-linux-gnu on i686 (Source distribution)": (Vendor.MYSQL, (4, 1, 22)),
    "mysqld  Ver 8.0.36-commercial for Linux on x86_64 (MySQL Enterprise Server - Commercial)": (
        Vendor.MYSQL,
        (8, 0, 36),
    ),
    "mysqld  Ver 26.10 for Linux on x86_64 (MySQL Community Server - GPL)": (Vendor.MYSQL, (26, 10, 0)),
    "mysqld  Ver 26.10.1 for Linux on x86_64 (MySQL Community Server - GPL)": (Vendor.MYSQL, (26, 10, 1)),
    "mysqld  Ver 8.0.35-27.1 for Linux on x86_64 (Percona XtraDB Cluster (GPL), Release rel27)": (
        Vendor.PERCONA,
        (8, 0, 35),
    ),
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
        "mysql  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)",
        "/usr/bin/mysqldump  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)",
        "mysqladmin  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)",
        "mysqlsh   Ver 8.4.3 for Linux on x86_64 - for MySQL 8.4.3 (MySQL Community Server (GPL))",
        "/usr/bin/my_print_defaults  Ver 9.7.4-2 for Linux on x86_64 ((Debian))",
        "/usr/bin/innochecksum  Ver 9.7.4-2 for Linux on x86_64 ((Debian))",
        "/usr/bin/innochecksum Ver 10.5.29, for debian-linux-gnu (x86_64)",
        "/usr/bin/myisamchk  Ver 9.7.4-2 for Linux on x86_64 ((Debian))",
        "/usr/bin/mysql_upgrade  Ver 2.0 Distrib 10.5.29-MariaDB, for debian-linux-gnu (x86_64)",
        "MySQL Router  Ver 8.4.3 for Linux on x86_64 (MySQL Community - GPL)",
        "mariadb-admin from 11.8.6-MariaDB, client 10.0 for debian-linux-gnu (x86_64)",
        "mariadb-backup based on MariaDB server 10.11.19-MariaDB debian-linux-gnu (x86_64)",
        "postgres (PostgreSQL) 16.4",
        "mysql  Ver 15.1 Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64) using  EditLine wrapper",
        "mariadb from 11.8.6-MariaDB, client 15.2 for debian-linux-gnu (x86_64) using EditLine wrapper",
    ],
)
def test_what_is_not_a_server_is_refused_with_its_own_words(line: str) -> None:
    with pytest.raises(ServerError, match="not a MySQL or MariaDB server") as caught:
        parse_version(line)
    assert line in caught.value.message


def test_a_number_without_end_is_not_a_release() -> None:
    with pytest.raises(ServerError, match="not a MySQL or MariaDB server"):
        parse_version(f"mysqld  Ver 8{'9' * 5000}.0.36 for Linux on x86_64")


def test_releases_are_ordered_by_number_and_not_by_text() -> None:
    older, newer, calendar = (
        parse_version(f"mysqld  Ver {number} for Linux on x86_64") for number in ("8.0.9", "8.0.36", "26.10")
    )
    assert older < newer < calendar


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("8.0.4-rc", "8.0.4-rc"),
        ("8.0.4-rc-log", "8.0.4-rc"),
        ("26.10-rc2", "26.10-rc2"),
        ("5.7.4-m14", "5.7.4-m14"),
        ("8.0.0-dmr", "8.0.0-dmr"),
        ("10.0.0-MariaDB-alpha", "10.0.0-alpha"),
        ("12.1.1-MariaDB-1:12.1.1~rc+maria~deb12", "12.1.1~rc"),
    ],
)
def test_a_release_candidate_is_distinguished_from_the_release_and_comes_before_it(
    number: str, text: str
) -> None:
    early = parse_version(f"mysqld  Ver {number} for Linux on x86_64")
    final = parse_version(f"mysqld  Ver {number.split('-')[0]} for Linux on x86_64")
    assert (early.text, early.early, final.early) == (text, True, False)
    assert early < final


@pytest.mark.parametrize(
    "number", ["10.11.19-MariaDB-0+deb12u1", "8.0.35-0ubuntu0.22.04.1", "10.6.9-MariaDB-log"]
)
def test_what_a_distribution_appends_is_not_a_part_of_the_release(number: str) -> None:
    version = parse_version(f"mysqld  Ver {number} for Linux on x86_64")
    assert (version.text, version.early) == (number.split("-")[0], False)


def test_a_build_for_debugging_is_another_server() -> None:
    lines = ("mysqld  Ver 8.4.3-debug for Linux", "mariadbd  Ver 11.4.5-MariaDB-debug for Linux on x86_64")
    assert [parse_version(line).text for line in lines] == ["8.4.3-debug", "11.4.5-debug"]


def test_a_release_is_named_with_its_maker() -> None:
    assert str(parse_version(MARIADB_VERSION)) == "MariaDB 10.11.19"
    assert str(parse_version(MYSQL_VERSION)) == "MySQL 9.7.4"
