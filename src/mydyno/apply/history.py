"""What was applied and what came of it, as plain rows."""

from collections.abc import Mapping, Sequence
from typing import Literal

from mydyno.apply.store.store import Entry
from mydyno.core.record import Record

State = Literal["in force", "rolled back", "restored", "unfinished", "done"]


class Row(Record):
    """One application."""

    id: str
    made_at: str
    does: str
    """`apply`, `roll back` or `hold`."""
    server: str
    findings: tuple[str, ...]
    files: int
    live: int
    """Acts that took effect at once."""
    state: State
    says: str
    """More on the state: what rolled it back, why it was restored."""
    waits_for_restart: tuple[str, ...]


def rows(entries: Sequence[Entry], *, at_work: bool = False) -> list[Row]:
    """All applications, oldest first. `at_work`: a mydyno changes something at this moment."""
    undone_by = {
        entry.application.rolls_back: entry.application.id
        for entry in entries
        if entry.progress.phase == "applied"
    }
    return [_row(entry, *_state(entry, undone_by, at_work=at_work)) for entry in entries]


def _row(entry: Entry, state: State, says: str) -> Row:
    application = entry.application
    files = sum(act.kind == "file" for act in application.acts)
    return Row(
        **application.model_dump(include={"id", "made_at", "does", "server", "findings"}),
        files=files,
        live=len(application.acts) - files,
        state=state,
        says=says,
        waits_for_restart=application.waits_for_restart if state == "in force" else (),
    )


def _state(entry: Entry, undone_by: Mapping[str | None, str], *, at_work: bool) -> tuple[State, str]:
    application, progress = entry.application, entry.progress
    because = progress.because or ""
    if progress.phase == "unfinished" and at_work:
        return "unfinished", "at work now"
    if progress.phase == "unfinished":
        return "unfinished", because or "`mydyno rollback` restores what it has begun"
    if progress.phase == "restored":
        return "restored", because
    if application.does == "roll back":
        return "done", f"took back {application.rolls_back}"
    if application.id in undone_by:
        return "rolled back", f"by {undone_by[application.id]}"
    return "in force", ""
