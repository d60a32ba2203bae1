"""The servers whose own lists of options are kept: what they know, and which release they are."""

from __future__ import annotations

from lab.stack.builders import options_of

from mydyno.core.server_version import Vendor, Version

LISTED = {
    Version(vendor, (major, minor, patch), f"{major}.{minor}.{patch}"): options_of(
        f"{vendor.lower()}-{major}.{minor}.{patch}"
    )
    for vendor, major, minor, patch in (
        (Vendor.MYSQL, 5, 5, 34),
        (Vendor.MYSQL, 5, 6, 24),
        (Vendor.MYSQL, 5, 7, 29),
        (Vendor.MYSQL, 8, 0, 15),
        (Vendor.MYSQL, 8, 0, 31),
        (Vendor.MYSQL, 8, 0, 33),
        (Vendor.MYSQL, 9, 7, 4),
        (Vendor.MARIADB, 10, 1, 23),
        (Vendor.MARIADB, 10, 2, 11),
        (Vendor.MARIADB, 10, 5, 29),
        (Vendor.MARIADB, 10, 11, 5),
        (Vendor.MARIADB, 10, 11, 19),
        (Vendor.MARIADB, 11, 4, 5),
        (Vendor.MARIADB, 11, 8, 6),
    )
}
MYSQL_56, MYSQL_97, MARIADB_105, MARIADB_1011, MARIADB_118 = (
    next(version for version in LISTED if version.text == text)
    for text in ("5.6.24", "9.7.4", "10.5.29", "10.11.19", "11.8.6")
)
