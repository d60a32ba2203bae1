"""Statements as a page shows them: broken into lines, and coloured; nothing in them can act."""

from __future__ import annotations

from markupsafe import Markup, escape

from mydyno.page.format import printable_lines
from mydyno.queries.report.sql_lines import broken

_CLASSES = {"keyword": "k", "string": "s", "number": "n", "comment": "c", "hole": "h"}
MOST = 8_192
"""Characters that are shown."""


def sql_markup(statement: str, *, is_cut: bool = False) -> Markup:
    """The statement, each of its pieces escaped; `is_cut` where it is a beginning only."""
    shown = "\n".join(printable_lines(statement[:MOST]))
    parts = []
    for piece in broken(shown):
        css_class = _CLASSES.get(piece.kind)
        text = escape(piece.text)
        parts.append(f'<span class="{css_class}">{text}</span>' if css_class else text)
    if is_cut or len(statement) > MOST:
        parts.append('<span class="c">… cut</span>')
    return Markup("".join(parts))
