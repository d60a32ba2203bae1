"""A table of statements that a page sorts and searches (`templates/statements.js`), of thousands of rows.

Its markup is written here, not in a template; what rows are sorted by comes with it as data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from markupsafe import Markup, escape

from mydyno.page.format import printable
from mydyno.page.page_data import Columns
from mydyno.page.skeleton import cells

MOST_ROWS = 5_000
"""So that a page can be opened whatever was digested."""
AT_FIRST = 50
"""Rows shown at first."""
_TEXT = 240
"""Characters of a statement in its row."""

_Of = TypeVar("_Of")


@dataclass(frozen=True)
class Column(Generic[_Of]):
    key: str
    title: str
    value: Callable[[_Of], float | None]
    """By which rows are sorted; what is missing comes last."""
    write: Callable[[_Of], str]


@dataclass(frozen=True)
class Row:
    id: str
    text: str
    """The statement on one line, cut."""
    more: str
    """What its row says when it is unfolded; empty where a separate section, with its id, says it."""
    cells: tuple[str, ...]


@dataclass(frozen=True)
class StatementTable:
    caption: str
    order: str
    """The key of the column by which the rows are ordered, the highest first."""
    heads: tuple[tuple[str, str], ...]
    """Key and title of each column."""
    rows: tuple[Row, ...]
    values: Columns
    beyond: tuple[str, ...] = ()
    """The last row: what has no separate one, and its cells; empty where there is nothing."""

    @property
    def settings(self) -> dict[str, object]:
        """What the script is given."""
        return {"atFirst": AT_FIRST, "order": self.order}

    def markup(self) -> Markup:
        """The rows beyond the first ones are a separate part, which the script hides at first; without script
        all are there."""
        heads = "".join(f'<th scope="col" data-key="{key}">{escape(title)}</th>' for key, title in self.heads)
        rows = [_row(number, row) for number, row in enumerate(self.rows, 1)]
        first, more = "\n".join(rows[:AT_FIRST]), "\n".join(rows[AT_FIRST:])
        foot = [' class="text"', *[""] * len(self.heads)]
        last = f"<tfoot><tr><td></td>{cells(self.beyond, foot)}</tr></tfoot>" if self.beyond else ""
        caption = f'<caption class="unseen">{escape(self.caption)}</caption>'
        fixed = '<th scope="col">#</th><th scope="col" class="text">statement</th>'
        return Markup(
            f'<table class="statements">\n{caption}\n<thead><tr>{fixed}{heads}</tr></thead>\n'
            f'<tbody>\n{first}\n</tbody>\n<tbody class="more">\n{more}\n</tbody>\n{last}</table>'
        )


def statement_table(
    of: Sequence[_Of],
    columns: Sequence[Column[_Of]],
    row: Callable[[_Of], tuple[str, str, str]],
    *,
    caption: str,
    order: str,
    beyond: Sequence[str] = (),
) -> StatementTable:
    """A row for each of `of`, for which `row` has id, statement and `Row.more`. A column without any value is
    left out; `beyond` has its statement's cell and one for each of `columns`."""
    kept = [at for at, each in enumerate(columns) if any(each.value(one) is not None for one in of)]
    shown = [columns[at] for at in kept]
    rows = []
    for one in of:
        id_, text, more = row(one)
        rows.append(Row(id_, cut(text, _TEXT), more, tuple(each.write(one) for each in shown)))
    return StatementTable(
        caption=caption,
        order=order,
        heads=tuple((each.key, each.title) for each in shown),
        rows=tuple(rows),
        values={each.key: [_rounded(each.value(one)) for one in of] for each in shown},
        beyond=(beyond[0], *(beyond[at + 1] for at in kept)) if beyond else (),
    )


def cut(text: str, most: int) -> str:
    """On one line, its end left out where it is longer than `most` characters."""
    line = printable(text[: 2 * most])
    return line if len(line) <= most and len(text) <= 2 * most else f"{line[: most - 1].rstrip()}…"


def _row(number: int, row: Row) -> str:
    text, id_ = escape(row.text), escape(row.id)
    if row.more:
        own = f' id="{id_}"'
        cell = f"<details><summary><code>{text}</code></summary>{escape(row.more)}</details>"
    else:
        own, cell = "", f'<a href="#{id_}"><code>{text}</code></a>'
    rest = cells(row.cells, [""] * len(row.cells))
    return f'<tr{own}><td>{number}</td><td class="text statement">{cell}</td>{rest}</tr>'


def _rounded(value: float | None) -> float | int | None:
    """Short enough for thousands of rows: sorting needs no more digits."""
    return value if value is None or isinstance(value, int) else float(f"{value:.6g}")
