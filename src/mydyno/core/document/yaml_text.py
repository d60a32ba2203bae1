"""Plain values in the YAML of an experiment file, a line each where that reads better than braces."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*( [A-Za-z0-9_.-]+)*%?|\d+(\.\d+)?[A-Za-z%/]*")
_OTHER_WORDS = frozenset({"null", "true", "false"})


class Text(str):
    """A text that stays one where YAML would read a number: `"10"`."""


def block(values: Mapping[str, Any], indent: int) -> Iterator[str]:
    """`name: value` lines; a mapping inside is indented further."""
    space = " " * indent
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield f"{space}{_scalar(name)}:"
            yield from block(value, indent + 2)
        else:
            yield f"{space}{_scalar(name)}: {inline(value)}"


def inline(value: Any) -> str:
    """One value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(name)}: {inline(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Text):
        return json.dumps(value, ensure_ascii=False)
    return _scalar(value) if isinstance(value, str) else str(value)


def _scalar(text: str) -> str:
    plain = _PLAIN.fullmatch(text) and text.lower() not in _OTHER_WORDS and not _date_like(text)
    return text if plain else json.dumps(text, ensure_ascii=False)


def _date_like(text: str) -> bool:
    """`2026-01-31` would be read as a date, `1_000` and `0x10` as numbers."""
    return bool(re.fullmatch(r"\d[\d_]*-\d.*|\d+_[\d_]*|0[xo].*", text))


def comment(text: str, indent: int = 0) -> Iterator[str]:
    """Text as comment lines of at most 110 characters."""
    import textwrap

    space = " " * indent
    for line in text.splitlines() or [""]:
        yield from textwrap.wrap(
            line, 110, initial_indent=f"{space}# ", subsequent_indent=f"{space}#   ", break_on_hyphens=False
        ) or [f"{space}#"]
