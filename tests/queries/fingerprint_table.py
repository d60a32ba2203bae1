"""The table of docs/reference/digest-fingerprints.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "digest-fingerprints.md"
_CODE = r"(?:`` (.+?) ``|``(.+?)``|`(.+?)`)"
_ROW = re.compile(rf"^\| {_CODE} \| {_CODE} \| (one|two) \| (one|two) \| (one|two) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """Two statements, and who takes them for one group."""

    one: str
    other: str
    is_one_here: bool
    is_one_in_performance_schema: bool
    is_one_for_pt_query_digest: bool


def rows() -> list[Row]:
    page = _PAGE.read_text(encoding="utf-8")
    found = [match.groups() for match in _ROW.finditer(page)]
    assert len(found) == page.count("\n| `"), "a row of the table cannot be read"
    return [
        _row(*("".join(filter(None, cells[at : at + 3])).strip() for at in (0, 3)), cells[6:])
        for cells in found
    ]


def _row(one: str, other: str, said: tuple[str, ...]) -> Row:
    here, performance_schema, pt_query_digest = (word == "one" for word in said)
    return Row(one, other, here, performance_schema, pt_query_digest)
