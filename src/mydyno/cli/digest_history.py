"""A folder of digests: this one is saved there, and shown with what the others know of its statements."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.core.durable import replacing
from mydyno.core.errors import UsageError
from mydyno.core.writing import writing_hint

if TYPE_CHECKING:
    from mydyno.queries.records import Digest, Group

MOST_GROUPS = 1_000
"""Of a digest that is saved: the first by time."""


def with_history_of(folder: Path, digest: Digest, more: Iterable[Group]) -> Digest:
    """The digest and `more` groups behind its own, each with its history; they wait in a temporary file.

    It is saved in `folder`, which is made when it is absent.
    The file's name is made of its window and its content, so that the same digest is saved once. Raises
    UsageError for a file in the folder that is no digest, and where it cannot be written.
    """
    from mydyno.queries.filed import Filed
    from mydyno.queries.history import with_history
    from mydyno.queries.order import first
    from mydyno.queries.records import Group
    from mydyno.queries.saved import open_saved, to_json

    if digest.window_us is None:
        raise UsageError("--history needs to know when statements ran: nothing that was read has a time")
    try:
        folder.mkdir(exist_ok=True)
        whole = digest.model_copy(update={"groups": Filed(Group, chain(digest.groups, more))})
        saved = map(open_saved, sorted(folder.glob("*.json")))
        shown = with_history(whole, saved, lambda groups: Filed(Group, groups))
        text = to_json(first(whole, MOST_GROUPS)).encode()
        path = folder / _name(digest.window_us, text)
        if not path.exists():
            with replacing(path) as file:
                file.write(text)
        return shown
    except OSError as error:
        raise UsageError(f"--history {folder}: {error.strerror}", writing_hint(error, folder)) from error


def _name(window_us: tuple[int, int], text: bytes) -> str:
    first, last = (f"{datetime.fromtimestamp(us / 1e6, UTC):%Y%m%dT%H%M%SZ}" for us in window_us)
    return f"{first}-{last}-{hashlib.sha256(text).hexdigest()[:8]}.json"
