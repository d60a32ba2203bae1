"""What of a machine could not be read, once for each kind of thing."""

from __future__ import annotations

from collections.abc import Sequence

from mydyno.survey.facts import Unread
from mydyno.survey.host.machine import Machine

MISSING = "no such file or directory"
_RIGHTS = ("permission denied", "operation not permitted")


def note(unread: list[Unread], machine: Machine, what: str, paths: Sequence[str]) -> None:
    """Keeps why none of `paths` could be read; nothing when one of them could."""
    reasons = [machine.refused[path] for path in paths if path in machine.refused]
    if len(reasons) < len(paths) or not reasons:
        return
    why = next((reason for reason in reasons if reason != MISSING), reasons[0])
    folder = paths[0].split("/")[1]
    if why == MISSING and folder in ("sys", "proc"):
        why = f"{paths[0]} is not there (a container may hide /{folder})"
    unread.append(Unread(what=what, why=why, hint="sudo" if why in _RIGHTS else None))
