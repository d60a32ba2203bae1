"""events.jsonl of a run, read as it grows. What is kept is where reading has come to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from mydyno.serve.progress import Progress

_CHUNK = 256 * 1024


@dataclass
class Place:
    """A place between two lines of the file."""

    offset: int = 0
    number: int = 0
    """Of the last event before it."""


@dataclass(frozen=True)
class EventsFile:
    path: Path

    def size(self) -> int:
        """Bytes; 0 where there is none."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def lines(self, place: Place, most: int = _CHUNK) -> list[bytes]:
        """The whole lines that follow `place`, which is moved behind them; of at most so many bytes, but one
        line at least. Empty at the end, and where the file cannot be read."""
        with self._opened() as file:
            if file is None:
                return []
            file.seek(place.offset)
            text = file.read(most)
            while text and b"\n" not in text and (more := file.read(most)):
                text += more
        whole = text[: text.rfind(b"\n") + 1]
        place.offset += len(whole)
        lines = whole.split(b"\n")[:-1]
        place.number += len(lines)
        return lines

    def count(self) -> int:
        """How many events there are."""
        lines = 0
        with self._opened() as file:
            while file is not None and (text := file.read(_CHUNK)):
                lines += text.count(b"\n")
        return lines

    def after(self, number: int) -> Place | None:
        """The place behind the event of this number; None where there is no such event."""
        place = Place()
        with self._opened() as file:
            if file is None:
                return place if number == 0 else None
            while place.number < number:
                text = file.read(_CHUNK)
                if not text:
                    return None
                lines = text.count(b"\n")
                if place.number + lines < number:
                    place.number += lines
                    place.offset += len(text)
                    continue
                at = 0
                for _ in range(number - place.number):
                    at = text.index(b"\n", at) + 1
                return Place(place.offset + at, number)
        return place

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO | None]:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            yield None
            return
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            yield file


@dataclass
class Followed:
    """The progress of one run, brought up to date with its file whenever it is looked at."""

    file: EventsFile
    progress: Progress = field(default_factory=Progress)
    _place: Place = field(default_factory=Place)

    def look(self) -> Progress:
        if (
            self.file.size() < self._place.offset
        ):  # Another file, as after the run was restored from a bundle.
            self.progress, self._place = Progress(), Place()
        while lines := self.file.lines(self._place):
            self.progress.hear(lines)
        return self.progress
