"""What the counts of clients' hosts say, and when they say nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from mydyno.survey.asking import Asking
from mydyno.survey.server.read import read_host_cache


@dataclass
class _Cursor:
    """Answers every statement with one row."""

    row: tuple[Any, ...]

    def execute(self, statement: str) -> None:
        pass

    def fetchall(self) -> list[tuple[Any, ...]]:
        return [self.row]


def _asking(row: tuple[Any, ...]) -> Asking:
    return Asking(cast(Any, _Cursor(row)), "'monitor'@'%'", [])


def test_an_empty_host_cache_has_counted_nothing() -> None:
    assert read_host_cache(_asking((0, None, None, None, None))) is None


@pytest.mark.parametrize("most", [0, 60])
def test_a_host_cache_with_clients_gives_its_totals(most: int) -> None:
    read = read_host_cache(_asking((2, 60, 5, 0, most)))
    assert read is not None
    assert (read.hosts, read.handshake_errors, read.authentication_errors) == (2, 60, 5)
    assert (read.blocked_errors, read.most_errors) == (0, most)
