"""What has come of an application: lines that are appended and synced, the last phase is the truth."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from mydyno.apply.apply_context import AS_ROOT
from mydyno.core.durable import SyncedLog
from mydyno.core.errors import LabError

FILE_NAME = "journal.jsonl"

Phase = Literal["unfinished", "applied", "restored"]


@dataclass
class Progress:
    """How far an application has come. `unfinished`: neither done nor taken back yet."""

    phase: Phase = "unfinished"
    begun: set[int] = field(default_factory=set)
    """Acts that may have happened, by their place."""
    because: str | None = None
    """Why it was taken back, or could not be."""
    at: str | None = None
    """When the last line was written; UTC, ISO 8601."""


class Journal:
    """The journal of one application. Each method returns when its line is on the disk. Raises LabError."""

    def __init__(self, folder: Path, anchor: Path) -> None:
        """`anchor`: the folder below which it is opened without following links."""
        self.path = folder / FILE_NAME
        self._log = SyncedLog(anchor, self.path)

    def begin(self, place: int) -> None:
        """The act at this place may happen from now on."""
        self._append({"begun": place})

    def commit(self) -> None:
        """One line: before it the application is one to be taken back, after it one that is done."""
        self._append({"phase": "applied"})

    def restored(self, because: str) -> None:
        self._append({"phase": "restored", "because": because})

    def stuck(self, because: str) -> None:
        """Taking back failed; it stays unfinished and the next mydyno tries again."""
        self._append({"stuck": because})

    def read(self) -> Progress:
        try:
            lines = self._log.lines()
        except OSError as error:
            raise LabError(f"{self.path} cannot be read: {error.strerror}", AS_ROOT) from error
        progress = Progress()
        for line in lines:
            try:
                _take(progress, json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise LabError(f"{self.path} is damaged: {line[:80]!r}") from error
        return progress

    def _append(self, entry: Mapping[str, object]) -> None:
        entry = {**entry, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        try:
            self._log.append(json.dumps(entry).encode())
        except OSError as error:
            raise LabError(f"the journal {self.path} cannot be written: {error.strerror}") from error


def _take(progress: Progress, entry: object) -> None:
    if not isinstance(entry, dict):
        raise TypeError("no entry of a journal")
    progress.at = str(entry["at"])
    match entry:
        case {"begun": int(place)}:
            progress.begun.add(place)
        case {"phase": "applied"}:
            progress.phase = "applied"
        case {"phase": "restored" | "put back", "because": str(because)}:  # The second up to 0.1.
            progress.phase, progress.because = "restored", because
        case {"stuck": str(because)}:
            progress.because = because
        case _:
            raise ValueError("no entry of a journal")
