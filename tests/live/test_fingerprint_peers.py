"""The groups of performance_schema in docs/reference/digest-fingerprints.md are those that MySQL forms."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from queries.fingerprint_table import rows

from live.conftest import Start

pytestmark = pytest.mark.live


def test_the_page_says_what_is_one_group_in_performance_schema(start_release: Callable[[str], Start]) -> None:
    server = start_release("mysql-9.7")()
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("USE mysql")

        def digest(statement: str) -> str:
            cursor.execute("SELECT STATEMENT_DIGEST(%s)", (statement,))
            return str(cursor.fetchone()[0])

        asked = [(row, digest(row.one) == digest(row.other)) for row in rows()]
    assert [row for row, is_one in asked if is_one != row.is_one_in_performance_schema] == []
