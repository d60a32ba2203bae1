"""The groups of docs/reference/digest-fingerprints.md are those that mydyno and the other programs form."""

from __future__ import annotations

import pytest

from mydyno.queries.fingerprints import fingerprints
from queries.fingerprint_table import Row, rows
from queries.peers import its_fingerprints


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.one} | {row.other}")
def test_the_page_says_what_is_one_group_here(row: Row) -> None:
    one, other = fingerprints([row.one, row.other])
    assert (one.id == other.id) == row.is_one_here, (one.text, other.text)
    assert (one.text == other.text) == row.is_one_here


def test_the_page_says_what_is_one_group_for_pt_query_digest() -> None:
    table = rows()
    result = its_fingerprints([statement for row in table for statement in (row.one, row.other)])
    for row, one, other in zip(table, result[::2], result[1::2], strict=True):
        assert (one == other) == row.is_one_for_pt_query_digest, (row, one, other)
