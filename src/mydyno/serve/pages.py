"""The pages of `mydyno serve`, filled from templates. Every text is escaped by them."""

from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup, escape

from mydyno.core.plurals import counted
from mydyno.page.charts import theme
from mydyno.page.format import count, duration, keep_together, printable
from mydyno.page.skeleton import breakable, css

STATIC = {
    "serve.css": "text/css; charset=utf-8",
    "serve.js": "text/javascript; charset=utf-8",
    "uPlot.min.css": "text/css; charset=utf-8",
    "uPlot.iife.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "uPlot.LICENSE": "text/plain; charset=utf-8",
}
"""Files next to the pages, with their types."""


def rendered(template: str, **view: Any) -> str:
    return (
        _templates()
        .get_template(template)
        .render(
            count=count,
            counted=counted,
            duration=duration,
            keep_together=keep_together,
            printable=printable,
            breakable=breakable,
            with_code=with_code,
            colors=len(theme.SERIES),
            **view,
        )
    )


def with_code(text: str) -> Markup:
    """`text` escaped; between backticks it is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # A backtick without its partner is only that.
        return escape(text)
    return Markup().join(
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )


@cache
def static(name: str) -> bytes | None:
    """A file's content; `mydyno.css` is the style sheet of the reports. None for any other name."""
    if name == "mydyno.css":
        return css().encode()
    if name not in STATIC:
        return None
    return (resources.files("mydyno.serve") / "static" / name).read_bytes()


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("mydyno.serve"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
