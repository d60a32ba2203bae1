"""A file before and after, as a unified diff, with what looks like a secret blotted out."""

from __future__ import annotations

import difflib
import re

_SECRET = re.compile(
    r"^(?P<before>[ +-]?\s*#?\s*[\w-]*(?:password|passwd|passphrase|secret|auth)[\w-]*\s*[=:]\s*)\S.*$",
    re.IGNORECASE,
)
_AUTHORITY = re.compile(r"(?P<before>://[^\s/@:]*:)[^\s@]+(?=@)")


def unified(path: str, old: str | None, new: str | None) -> str:
    """The difference as patch(1) has it; None: there is no such file."""
    lines = difflib.unified_diff(
        _lines(old),
        _lines(new),
        fromfile="/dev/null" if old is None else f"a{path}",
        tofile="/dev/null" if new is None else f"b{path}",
        lineterm="",
    )
    return "\n".join(_blotted(line) for line in lines)


def _lines(text: str | None) -> list[str]:
    return [] if text is None else text.encode("utf-8", "replace").decode().splitlines()


def _blotted(line: str) -> str:
    return _AUTHORITY.sub(r"\g<before>****", _SECRET.sub(r"\g<before>****", line))
