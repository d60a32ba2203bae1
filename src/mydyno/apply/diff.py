"""A file before and after, as a unified diff: control characters written out, what looks like a secret
blotted out."""

import difflib
import re

from mydyno.core.visible import visible

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
    return "\n".join(visible(_blotted(line)) for line in lines)


def _lines(text: str | None) -> list[str]:
    """At line feeds only: a program may take a carriage return for an end of line, or not."""
    if not text:
        return []
    return text.encode("utf-8", "replace").decode().removesuffix("\n").split("\n")


def _blotted(line: str) -> str:
    return _AUTHORITY.sub(r"\g<before>****", _SECRET.sub(r"\g<before>****", line))
