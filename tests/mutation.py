"""Texts changed at random, the same ones every time: what a reader of files may be given."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from typing import Any

SECONDS = float(os.environ.get("MYDYNO_FUZZ_SECONDS", "2"))
"""How long each fuzzing test goes on."""

_STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53, 2**64, -(2**63), 10**400, 0.5, -0.0, 1e308),
    *(
        "",
        " ",
        "x",
        "\0",
        "\n",
        "\r\n",
        "\x1b[2J",
        "\u202e",
        "\ud800",
        "../../x",
        "/",
        "//",
        "/etc/../x",
        "~",
    ),
    *("1\nExecStart=/x", "a" * 5000, "%s%n", "${x}", "NaN", "-1", "1e999", "99999999999999999999"),
    *([], {}, [[]], {"": None}, [{}], {"kind": "file"}, {"kind": []}),
)
_BYTES = (
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"{",
    b"}",
    b"[",
    b'"',
    b"\\",
    b"\n",
    b"\r",
    b",",
)
_TEXTS = (
    b"NaN",
    b"Infinity",
    b"-",
    b"1e999",
    b"9" * 5000,
    b"[" * 20_000,
    b'{"a":' * 20_000,
    b"\\ud800",
    b"null",
)


def mutations(seeds: Sequence[bytes], seconds: float = SECONDS, seed: int = 1) -> Iterator[bytes]:
    """Changed copies of the seeds for so long; each of the seeds is a JSON document, or lines of them."""
    chance = random.Random(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        text = chance.choice(seeds)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            text = _in_values(text, chance) if chance.random() < 0.6 else _in_bytes(text, chance)
        yield text


def _in_values(text: bytes, chance: random.Random) -> bytes:
    """One value of one document, or one key, is another."""
    lines = text.split(b"\n") if b"\n{" in text and not text.startswith(b"{\n") else [text]
    at = chance.randrange(len(lines))
    try:
        document = json.loads(lines[at])
    except (ValueError, RecursionError):
        return _in_bytes(text, chance)
    places = list(_places(document))
    if not places:
        return _in_bytes(text, chance)
    holder, key = chance.choice(places)
    match chance.randrange(4):
        case 0 if isinstance(holder, dict):
            holder[str(chance.choice(_STRANGE))[:50]] = holder.pop(key)
        case 1:
            del holder[key]
        case 2:
            other, where = chance.choice(places)
            holder[key] = _copy(other[where]) if _holds(other, where) else None
        case _:
            holder[key] = _copy(chance.choice(_STRANGE))
    lines[at] = json.dumps(document).encode()
    return b"\n".join(lines)


def _holds(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    found: list[Any] = list(value) if isinstance(value, dict) else []
    if isinstance(value, list):
        found = list(range(len(value)))
    for key in found:
        yield value, key
        yield from _places(value[key])


def _in_bytes(text: bytes, chance: random.Random) -> bytes:
    start = chance.randint(0, len(text))
    end = min(len(text), start + chance.choice((0, 1, 1, 4, 50)))
    match chance.randrange(5):
        case 0:
            return text[:start]
        case 1:
            return text[:start] + text[end:]
        case 2:
            return text[:end] + text[start:]
        case 3:
            return text[:start] + chance.choice(_TEXTS) + text[end:]
        case _:
            return text[:start] + chance.choice(_BYTES) + text[end:]
