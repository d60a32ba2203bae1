"""What MySQLTuner prints, as far as it is advice: the lines below `Recommendations`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mydyno.core.errors import UsageError

_VERSION = re.compile(r"MySQLTuner (?:v?)(\d+(?:\.\d+)+)")
_SECTION = re.compile(r"^-{4,} Recommendations -{4,}$")
_GENERAL, _VARIABLES = "General recommendations:", "Variables to adjust:"


@dataclass(frozen=True)
class Report:
    version: str | None
    general: tuple[str, ...]
    """Sentences, for people."""
    variables: tuple[str, ...]
    """As printed: `innodb_buffer_pool_size (>= 1.2G) if possible.`"""


def read_report(text: str) -> Report:
    """The advice in the program's plain output. Raises UsageError when it ended before giving any."""
    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if _SECTION.match(line)]
    if not starts:
        last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
        raise UsageError(
            f"MySQLTuner's output has no recommendations: it ended after {last!r}",
            "it was cut off, or the program failed on this server",
        )
    lines_of: dict[str, list[str]] = {_GENERAL: [], _VARIABLES: []}
    heading: str | None = None
    for line in lines[starts[-1] + 1 :]:
        if line.strip() in lines_of:
            heading = line.strip()
        elif heading is not None and line.startswith("    ") and line.strip():
            lines_of[heading].append(line.strip())
        elif heading is not None and not line.startswith("  "):
            heading = None
    version = _VERSION.search(text)
    return Report(version[1] if version else None, tuple(lines_of[_GENERAL]), tuple(lines_of[_VARIABLES]))
