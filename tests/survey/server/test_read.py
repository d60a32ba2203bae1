"""What is said of servers that nobody has tried."""

from __future__ import annotations

import pytest

from mydyno.core.server_version import parse_version
from mydyno.survey.facts import Unread
from mydyno.survey.server.read import remark_on_age


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("mysqld Ver 5.5.62", "older"),
        ("mysqld Ver 26.10.0", "newer"),
        ("mysqld Ver 10.4.34-MariaDB", "older"),
        ("mysqld Ver 12.3.1-MariaDB", "newer"),
        ("mysqld Ver 8.0.36-28 (Percona Server (GPL))", None),
        ("mysqld Ver 10.11.19-MariaDB", None),
    ],
)
def test_an_older_or_newer_server_is_read_and_said_to_be_one(line: str, word: str | None) -> None:
    unread: list[Unread] = []
    remark_on_age(parse_version(line), unread)
    assert [each.why.split()[2] for each in unread] == ([word] if word else [])
