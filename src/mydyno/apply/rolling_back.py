"""Reverting what was applied: the same acts reversed, unless a file or value has been changed since."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mydyno.apply.act import must_be_possible
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.diff import unified
from mydyno.apply.files.plan import read_file
from mydyno.apply.files.replace import ReplaceFile, kept_bytes, kept_text
from mydyno.apply.files.state import FileState
from mydyno.apply.store.application import AnyAct, Application, new_application
from mydyno.apply.store.store import Entry, in_force
from mydyno.core.errors import ApplyError, UsageError
from mydyno.core.nearest import did_you_mean


@dataclass(frozen=True)
class WayBack:
    """The application that rolls another one back, and the bytes of its files."""

    application: Application
    contents: tuple[bytes, ...]


def to_roll_back(entries: Sequence[Entry], wanted: str | None) -> Entry:
    """The application of this id, or the newest that is in force. Raises UsageError."""
    applied = in_force(entries)
    if wanted is None:
        if not applied:
            raise UsageError("nothing that mydyno has applied is in force", "`mydyno history` shows what was")
        return applied[-1]
    for entry in applied:
        if entry.application.id == wanted:
            return entry
    by_id = {entry.application.id: entry for entry in entries}
    if wanted in by_id:
        does = by_id[wanted].application.does
        why = "is a rollback itself" if does == "roll back" else "is not in force any more"
        raise UsageError(f"{wanted} {why}", "`mydyno history` shows what is")
    raise UsageError(
        f"there is no application {wanted}",
        did_you_mean(wanted, by_id, "`mydyno history` lists all of them"),
    )


def way_back(entry: Entry, applied: Sequence[Entry], context: ApplyContext, *, force: bool) -> WayBack:
    """What brings the old state; acts that are back already are left out.

    Raises ApplyError with the difference when a file or a value has been changed since, unless `force`.
    """
    must_be_possible(entry.application.acts, context)
    kept = replace(context, kept=entry.folder)
    acts: list[AnyAct] = []
    contents: list[bytes] = []
    changed: list[str] = []
    for act in entry.application.acts:
        back = act.reversed()
        look = back.look(kept)
        if look.state == "after":
            continue
        if look.state == "elsewhere":
            changed.append(_difference(act, kept) if isinstance(act, ReplaceFile) else look.says)
            if isinstance(back, ReplaceFile):
                present, content = FileState.of(context.root, back.path) or (None, None)
                back = back.model_copy(update={"before": present})
                contents += [content] if content is not None else []
        acts.append(back)
        if isinstance(act, ReplaceFile):
            states = (state for state in (act.before, act.after) if state)
            contents += [kept_bytes(kept, state.sha256) for state in states]
    if changed and not force:
        title = f"changed since {entry.application.id} was applied, nothing was rolled back:"
        raise ApplyError("\n".join((title, *changed)), _hint(entry, applied))
    old = entry.application
    new = new_application("roll back", old.server, old.findings, tuple(acts), rolls_back=old.id)
    return WayBack(new, tuple(contents))


def _difference(act: ReplaceFile, kept: ApplyContext) -> str:
    ours, content = kept_text(kept, act.after), read_file(kept.root, act.path)
    now = None if content is None else content.decode("utf-8", "replace")
    if ours == now:
        return f"{act.path}: its mode or owner"
    return unified(act.path, ours, now)


def _hint(entry: Entry, applied: Sequence[Entry]) -> str:
    """Another application on top goes first; what is not mydyno's is the user's to judge."""
    above = [
        later.application.id
        for later in applied
        if later.application.id > entry.application.id and _files(later) & _files(entry)
    ]
    if above:
        return f"roll back what was applied later first: mydyno rollback {above[-1]}"
    return "--force restores the old state all the same, and the changes above are lost"


def _files(entry: Entry) -> set[str]:
    return {act.path for act in entry.application.acts if isinstance(act, ReplaceFile)}
