"""Values of my.cnf as SQL takes them."""

from __future__ import annotations

import pytest

from mydyno.server.program.config import Setting
from mydyno.server.variables.global_variables import Value, as_value


@pytest.mark.parametrize(
    ("asked", "now", "sent"),
    [
        ("256M", 134217728, 268435456),
        (200, 100, 200),
        (2.5, 10.0, 2.5),
        ("2.5", 10.0, 2.5),
        (True, 0, "ON"),
        ("OFF", 1, "OFF"),
        ("ROW", "MIXED", "ROW"),
        ("16", "utf8mb4", "16"),
        ("a/b", None, "a/b"),
    ],
)
def test_sizes_become_numbers_where_the_variable_is_one(asked: Setting, now: Value, sent: Value) -> None:
    assert as_value(asked, now) == sent
