"""Files with something wrong in them, for the readers of experiments and of workloads."""

from __future__ import annotations

import io
from copy import deepcopy
from functools import cache
from typing import Any

from hypothesis import strategies as st
from ruamel.yaml import YAML

from mydyno.core.document.source import parse


def with_random_edits(text: str, snippets: st.SearchStrategy[str], data: st.DataObject) -> str:
    """A few characters of it replaced by a snippet, up to three times."""
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 12))
        text = text[:start] + data.draw(snippets) + text[start + length :]
    return text


def with_odd_value(text: str, odd: st.SearchStrategy[Any], data: st.DataObject) -> str:
    """A well-formed file with another value in one place."""
    document = deepcopy(_read(text))
    place: Any = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        below = place[key]
        if not isinstance(below, dict | list) or not below or data.draw(st.booleans()):
            break
        place = below
    place[key] = data.draw(odd)
    stream = io.StringIO()
    YAML(typ="safe", pure=True).dump(document, stream)
    return stream.getvalue()


@cache
def _read(text: str) -> Any:
    return parse(text, "good.yaml").plain()
