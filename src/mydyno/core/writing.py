"""Writing to disk with an error that people understand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mydyno.core.errors import LabError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns an OSError inside the block into a LabError that names `path`: a full disk is no traceback."""
    try:
        yield
    except OSError as error:
        raise LabError(
            f"{path} cannot be written: {error.strerror}",
            "free some space in the lab, or choose another with --lab",
        ) from error
