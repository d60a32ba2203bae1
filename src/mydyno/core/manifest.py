"""The manifest of a folder: what is known of its other files."""

from pathlib import Path
from typing import Self

from pydantic import ValidationError

from mydyno.core.record import Record
from mydyno.core.writing import writing

FILE_NAME = "manifest.json"


class Manifest(Record):
    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The one in `folder`; None when there is none that this version of mydyno reads."""
        try:
            return cls.model_validate_json((folder / FILE_NAME).read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, folder: Path) -> None:
        """Raises LabError."""
        with writing(folder / FILE_NAME):
            (folder / FILE_NAME).write_text(self.model_dump_json(indent=2) + "\n")
