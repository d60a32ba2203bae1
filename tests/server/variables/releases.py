"""The servers whose own lists of options are kept: what they know, and which release they are."""

from __future__ import annotations

from lab.stack.builders import options_of

from mydyno.core.server_version import Vendor, Version

LISTED = {
    Version(Vendor.MYSQL, (5, 6, 24), "5.6.24"): options_of("mysql-5.6.24"),
    Version(Vendor.MYSQL, (9, 7, 4), "9.7.4"): options_of("mysql-9.7.4"),
    Version(Vendor.MARIADB, (10, 5, 29), "10.5.29"): options_of("mariadb-10.5.29"),
    Version(Vendor.MARIADB, (10, 11, 19), "10.11.19"): options_of("mariadb-10.11.19"),
    Version(Vendor.MARIADB, (11, 8, 6), "11.8.6"): options_of("mariadb-11.8.6"),
}
MYSQL_56, MYSQL_97, MARIADB_105, MARIADB_1011, MARIADB_118 = LISTED
