"""Every step of a search on the disk before the next one, in the lab next to the runs.

    lab/searches/NAME-FINGERPRINT/journal.jsonl     began, then heats, rounds and what they decided
                                  report/           page, best.cnf, advice file, table, record

A round is written when its run in the lab has ended; one that was killed is measured again from where its run
stopped, since the run's plan is the same.
"""

import json
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from mydyno.core.durable import SyncedLog
from mydyno.core.errors import LabError
from mydyno.core.writing import writing
from mydyno.tune.history import Began, Event, Heat, HeatEnd, Round

_EVENT: TypeAdapter[Event] = TypeAdapter(
    Annotated[Began | Heat | Round | HeatEnd, Field(discriminator="kind")]
)
FOLDER = "searches"
FILE = "journal.jsonl"
RECORD = "report/search.json"
"""All that the report shows, rewritten after each heat."""


class Journal:
    """Events in their order, as far as they are on the disk."""

    def __init__(self, lab: Path, name: str) -> None:
        """`name`: of the folder. Raises LabError for a journal that cannot be read or written."""
        self.folder = lab / FOLDER / name
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        self._log = SyncedLog(self.folder, self.folder / FILE)
        self.events: list[Event] = [self._read(number, line) for number, line in self._lines()]

    def append(self, event: Event) -> None:
        with writing(self._log.path):
            self._log.append(event.model_dump_json().encode())
        self.events.append(event)

    def _lines(self) -> list[tuple[int, bytes]]:
        try:
            return list(enumerate(self._log.lines(), start=1))
        except OSError as error:
            raise LabError(f"cannot read {self._log.path}: {error.strerror}") from error

    def _read(self, number: int, line: bytes) -> Event:
        try:
            return _EVENT.validate_python(json.loads(line))
        except (ValueError, ValidationError) as error:
            raise LabError(
                f"{self._log.path}:{number} is damaged: {str(error).splitlines()[0]}",
                "move the folder away and start the search again; its runs stay in the lab",
            ) from error
