"""All acts of an application or none: done in order, verified, committed by one line; else all put back."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from mydyno.apply.files.replace import ReplaceFile
from mydyno.apply.guardian import guarded
from mydyno.apply.means import Means
from mydyno.apply.store.store import Entry, Store
from mydyno.core.errors import ApplyError, MydynoError, UndoError
from mydyno.trial.interruption import interruptible, uninterrupted

Tell = Callable[[str], None]
"""Takes a line about what happens next."""


def carry_out(entry: Entry, means: Means, tell: Tell, *, over_others: bool = False) -> None:
    """Does everything that `entry` says, or leaves everything as it was. The store is held.

    `over_others`: also where somebody has set another value than those that `entry` knows.
    Raises ApplyError with what failed after all has been put back, KeyboardInterrupt likewise, and UndoError
    when something could not be put back: then the entry stays unfinished, and the next mydyno goes on.
    """
    means = replace(means, kept=entry.folder)
    parent = os.getpid()
    because = f"the mydyno that did it (process {parent}) was ended in the middle"
    with interruptible(), guarded(lambda: put_back(entry, means, because)):
        try:
            if not over_others:
                _refuse_changed(entry, means)
            _do(entry, means, tell)
            with uninterrupted():
                entry.journal.commit()
        except BaseException as error:
            with uninterrupted():
                if entry.journal.read().phase == "applied":
                    return  # Interrupted at its very end, when there was nothing left to stop.
                _take_back(entry, means, tell, error)
            raise _told(error) from error


def put_back(entry: Entry, means: Means, because: str) -> tuple[str, ...]:
    """Takes back whatever has begun of an unfinished application; nothing when it is finished.

    Gives a sentence for each file that somebody else has changed since, and that is therefore left. One
    failure does not stop the others. Raises UndoError naming all.
    """
    progress = entry.journal.read()
    if progress.phase != "unfinished":
        return ()
    means = replace(means, kept=entry.folder)
    left, failures = [], []
    for place, act in enumerate(entry.application.acts):
        if place not in progress.begun:
            continue
        try:
            # A file changes at one instant, so one that is neither old nor new is somebody else's. A value
            # of the kernel or the server may be ours and rounded.
            if isinstance(act, ReplaceFile) and act.look(means).stands == "elsewhere":
                left.append(f"{act.path} has been changed by somebody else since: left as it is")
            else:
                act.reversed().do(means)
        except MydynoError as error:
            failures.append(str(error))
    if failures:
        entry.journal.stuck("; ".join(failures))
        raise UndoError(
            f"{entry.application.id}: not everything could be put back:\n"
            + "\n".join(f"  - {failure}" for failure in failures),
            "mend the cause, then `mydyno rollback` goes on: the journal keeps what is left",
        )
    entry.journal.put_back("; ".join((because, *left)))
    return tuple(left)


def recover(store: Store, means: Means) -> tuple[str, ...]:
    """Puts back what those have left that were killed together with their guardians. The store is held.

    Gives a sentence for each. Raises UndoError.
    """
    store.clear_halves()
    told: list[str] = []
    for entry in store.unfinished():
        left = put_back(entry, means, "it was ended in the middle, and put back by the mydyno after it")
        told.append(f"{entry.application.id} was ended in the middle: everything has been put back")
        told.extend(left)
    return tuple(told)


def _refuse_changed(entry: Entry, means: Means) -> None:
    looks = (act.look(means) for act in entry.application.acts)
    if changed := [look.says for look in looks if look.stands == "elsewhere"]:
        raise ApplyError(f"changed while mydyno was about to begin: {'; '.join(changed)}", "begin again")


def _do(entry: Entry, means: Means, tell: Tell) -> None:
    for place, act in enumerate(entry.application.acts):
        tell(act.sentence())
        entry.journal.begin(place)
        act.do(means)
    tell("verify")
    for act in entry.application.acts:
        look = act.look(means)
        if look.stands not in ("after", "unseen"):
            raise ApplyError(f"it did not hold: {act.sentence()}, but {look.says}")


def _take_back(entry: Entry, means: Means, tell: Tell, error: BaseException) -> None:
    because = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error).splitlines()[0]
    tell(f"put everything back: {because}")
    put_back(entry, means, because)


def _told(error: BaseException) -> BaseException:
    if isinstance(error, MydynoError):
        return ApplyError(f"{error.message}; everything is as it was before", error.hint)
    return error
