"""A password that cannot be printed, formatted or serialised by accident, or quoted by an error."""

from __future__ import annotations

import re
import secrets as _random
from typing import NoReturn

_IN_TEXT = (
    re.compile(r"(?P<before>://[^\s/@:]*:)[^\s@]+(?=@)"),
    re.compile(r"(?P<before>\bpassword['\"]?\s*[:=]\s*)[^\s,}\]]+", re.IGNORECASE),
)


def masked(text: str) -> str:
    """`text` with what looks like a password in it blotted out: an error may quote what it should not."""
    for pattern in _IN_TEXT:
        text = pattern.sub(r"\g<before>****", text)
    return text


class Secret:
    """Holds a secret text; only `reveal()` gives it away, so every use is easy to find."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    @classmethod
    def random(cls) -> Secret:
        """A fresh secret of 32 letters and digits (about 190 bits), safe inside SQL quotes."""
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        return cls("".join(_random.choice(alphabet) for _ in range(32)))

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(****)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is never serialised")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and _random.compare_digest(self._text.encode(), other._text.encode())

    def __hash__(self) -> int:
        return hash(self._text)
