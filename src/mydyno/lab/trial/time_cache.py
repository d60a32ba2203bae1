"""Where this machine keeps what its last trials took: one file of mydyno's cache, a JSON object a line.

It holds no name, setting or path, and losing it costs nothing but the accuracy of the next plan. So a cache
that cannot be read or written is passed over in silence.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from mydyno.core.folders import cache_folder
from mydyno.lab.plan import TrialTime

KEPT = 1000
_LONGEST_BYTES = 512 * 1024
"""Beyond it the file is cut to the last `KEPT` trials."""


def time_cache() -> Path:
    return cache_folder("trial-times.jsonl")


def read_times(path: Path) -> tuple[TrialTime, ...]:
    """Oldest first. Lines that are not of this format are left out."""
    times = []
    with suppress(OSError):
        for line in path.read_bytes().splitlines()[-KEPT:]:
            with suppress(ValidationError):
                times.append(TrialTime.model_validate_json(line))
    return tuple(times)


def add_time(path: Path, time: TrialTime) -> None:
    """Appends one trial. Two that are run at once do not disturb each other: a short line is one write."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            file.write(time.model_dump_json().encode() + b"\n")
        if path.stat().st_size > _LONGEST_BYTES:
            partial = path.with_suffix(".partial")
            partial.write_bytes(b"".join(line + b"\n" for line in path.read_bytes().splitlines()[-KEPT:]))
            partial.replace(path)
