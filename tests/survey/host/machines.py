"""Machines that are folders: what a reader finds below them is all that there is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mydyno.survey.host.machine import LocalMachine


def machine(folder: Path, files: Mapping[str, str]) -> LocalMachine:
    """One with these files, by their paths from the root."""
    for path, text in files.items():
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return LocalMachine(folder)
