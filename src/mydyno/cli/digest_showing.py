"""How `mydyno digest` shows what it found: text or JSON on standard output, and a page for a browser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import tzinfo
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

from mydyno.cli import screen
from mydyno.queries.report import LIMIT_OF_PAGE

if TYPE_CHECKING:
    from mydyno.cli.outputs import OutputFile
    from mydyno.queries.comparison import Comparison
    from mydyno.queries.records import Digest, Group

LIMIT = 20
"""Groups of a page for a terminal."""
DETAILS = 5
"""Groups that are shown with details."""
_AHEAD = 1_000
"""Groups that indexes are judged by, of a digest whose groups are shown as they are read."""
_WIDEST = 180
"""Characters of a line: a table of statements gains by more than text does."""


@dataclass(frozen=True)
class Showing:
    """What the options say; None: not given."""

    zone: tzinfo | None
    limit: int | None
    details: int
    order: str | None
    as_json: bool
    html: OutputFile | None

    @property
    def most(self) -> int | None:
        """Groups that some way of showing them takes, None: all. Others would only cost time to read."""
        if self.limit is not None:
            return self.limit
        if self.as_json:
            return None
        return LIMIT if self.html is None else LIMIT_OF_PAGE

    @property
    def is_glance(self) -> bool:
        """A table and no more."""
        return not (self.as_json or self.html or self.details)

    def load_ahead(self) -> None:
        """Loads what showing takes while the engine still reads, which leaves this process idle."""
        modules = ["mydyno.queries.report.text", "mydyno.cli.shown"]
        if not self.is_glance:
            modules.append("mydyno.queries.candidates.lookups")
        Thread(target=lambda: [import_module(name) for name in modules], name="loading").start()

    def ahead(self, explained: int) -> int | None:
        """Groups that must be there before any is shown; None: all that are shown. JSON is written as groups
        are read, but for the first ones in an order that is not known before."""
        from mydyno.queries.order import BY_TIME

        is_known = self.limit is None or self.order in (None, BY_TIME)
        is_stream = self.as_json and self.html is None and is_known
        return max(_AHEAD, explained) if is_stream else None

    def digest(self, digest: Digest, more: Iterable[Group] = ()) -> None:
        """`more` are groups behind its own, for JSON. Raises UsageError for a page that cannot be written."""
        from mydyno.page.time_zones import Zone
        from mydyno.queries.order import first

        if self.html is not None:
            from mydyno.queries.report.page import digest_html

            _write(self.html, digest_html(first(digest, self.limit or LIMIT_OF_PAGE), Zone(self.zone)))
        if self.as_json:
            from mydyno.queries.saved import json_parts

            for part in json_parts(digest, more):
                screen.echo_json_text(part, nl=False)
            screen.flush()
            return
        from mydyno.cli.shown import show, width
        from mydyno.queries.report.text import digest_lines

        text = first(digest, self.limit or LIMIT)
        show(digest_lines(text, width(_WIDEST), Zone(self.zone), self.details, self.order))

    def comparison(self, comparison: Comparison) -> None:
        """Raises UsageError for a page that cannot be written."""
        from mydyno.page.time_zones import Zone

        if self.html is not None:
            from mydyno.queries.report.page import comparison_html

            _write(self.html, comparison_html(comparison, Zone(self.zone)))
        if self.as_json:
            from mydyno.queries.comparison import comparison_json

            for part in comparison_json(comparison):
                screen.echo_json_text(part, nl=False)
            screen.flush()
            return
        from mydyno.cli.shown import show, width
        from mydyno.queries.report.comparison_text import comparison_lines

        show(comparison_lines(comparison, width(_WIDEST), Zone(self.zone), self.limit or LIMIT))


def _write(file: OutputFile, page: str) -> None:
    file.write(page)
    screen.echo(f"page     {file.path}", err=True)
