"""What vl-convert does for the report: pictures of specifications, and Vega itself as a script for the page.

Nothing heavy is imported here: the process that `press.py` starts has nothing else to do.
"""

from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import vl_convert

from mydyno.core.durable import replacing
from mydyno.core.folders import cache_folder

LOCALE = {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["", ""]}
_SNIPPET = "window.vegaEmbed=vegaEmbed"


def svg(spec: dict[str, Any]) -> str:
    """What a Vega-Lite specification looks like, as an SVG text. Nothing is fetched for it."""
    drawn: str = vl_convert.vegalite_to_svg(spec, format_locale=LOCALE, allowed_base_urls=[])
    return drawn


def png(drawn: str, scale: float = 2.0) -> bytes:
    """An SVG as a PNG, `scale` dots for each CSS pixel."""
    return bytes(vl_convert.svg_to_png(drawn, scale=scale))


def script() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, which sets `window.vegaEmbed`. Packing it takes seconds,
    so it is kept in the cache; where that cannot be written it is packed each time."""
    path = cache_folder("page") / f"vega-of-vl-convert-{version('vl-convert-python')}.js"
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        packed: str = vl_convert.javascript_bundle(_SNIPPET)
        _keep(path, packed)
        return packed


def _keep(path: Path, text: str) -> None:
    """Whole or not at all: another report may be reading."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(text.encode())
