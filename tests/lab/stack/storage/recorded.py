"""Output of real tools, recorded in a guest with a kernel 6.1; the tool's version is in the name."""

from __future__ import annotations

from pathlib import Path

_DATA = Path(__file__).parent / "data"


def recorded(name: str) -> str:
    return (_DATA / name).read_text()
