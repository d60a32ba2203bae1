"""Vega, Vega-Lite and Vega-Embed as one script for the page, from what vl-convert carries."""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path

import vl_convert

from mydyno.core.cache import cache_folder

_SNIPPET = "window.vegaEmbed=vegaEmbed"


def script() -> str:
    """The script, which sets `window.vegaEmbed`. Packing it takes seconds, so it is kept in the cache; where
    that cannot be written it is packed anew each time."""
    path = cache_folder("page") / f"vega-of-vl-convert-{version('vl-convert-python')}.js"
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        packed: str = vl_convert.javascript_bundle(_SNIPPET)
        _keep(path, packed)
        return packed


def _keep(path: Path, text: str) -> None:
    """Whole or not at all: another report may be reading."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            file.write(text)
        Path(file.name).replace(path)
    except OSError:
        return
