"""All acts of an application or none: done in order, verified, committed by one line; else all is restored.

What is only held for a while is never committed, so its end is that of a failure: all is restored.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from mydyno.apply.act import must_be_possible
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.guardian import guarded
from mydyno.apply.store.store import Entry, Store
from mydyno.core.errors import ApplyError, MydynoError, UndoError
from mydyno.core.interruption import interruptible, uninterrupted

Report = Callable[[str], None]
"""Shows a line about what happens next."""


def carry_out(entry: Entry, context: ApplyContext, report: Report, *, over_others: bool = False) -> None:
    """Does everything that `entry` says, or leaves everything as it was. The store is held.

    `over_others`: also where another value is set than those that `entry` knows.
    Raises ApplyError with what failed after all has been restored, KeyboardInterrupt too, and UndoError
    when something could not be restored: then the entry stays unfinished, and the next mydyno goes on.
    """
    must_be_possible(entry.application.acts, context)
    context = replace(context, kept=entry.folder)
    with interruptible(), _guarded(entry, context):
        try:
            if not over_others:
                _refuse_changed(entry, context)
            _do(entry, context, report)
            with uninterrupted():
                entry.journal.commit()
        except BaseException as error:
            with uninterrupted():
                if entry.journal.read().phase == "applied":
                    return  # Interrupted at its very end, when there was nothing left to stop.
                because = _because(error)
                report(f"restored everything: {because}")
                restore(entry, context, because)
            raise _unchanged(error) from error


@contextmanager
def held_while(entry: Entry, context: ApplyContext, report: Report) -> Iterator[None]:
    """Everything that `entry` says is so within this block, and as it was before after it. The store is held.

    Ctrl-C, SIGTERM and SIGHUP are a KeyboardInterrupt in the block; its guardian restores when this process
    dies in it. Raises ApplyError with what failed at the beginning, after all has been restored, what the
    block raises, and UndoError as `carry_out` does.
    """
    must_be_possible(entry.application.acts, context)
    context = replace(context, kept=entry.folder)
    because = "its time was over"
    with interruptible(), _guarded(entry, context):
        try:
            try:
                _refuse_changed(entry, context)
                _do(entry, context, report)
            except MydynoError as error:
                raise _unchanged(error) from error
            yield
        except BaseException as error:
            because = _because(error)
            raise
        finally:
            with uninterrupted():
                for line in restore(entry, context, because):
                    report(line)


def restore(entry: Entry, context: ApplyContext, because: str) -> tuple[str, ...]:
    """Reverts whatever has begun of an unfinished application; nothing when it is finished.

    Gives a sentence for whatever another program has changed since, and is therefore left. One failure
    does not stop the others. Raises UndoError naming all.
    """
    progress = entry.journal.read()
    if progress.phase != "unfinished":
        return ()
    must_be_possible(entry.application.acts, context)
    context = replace(context, kept=entry.folder)
    left, failures = [], []
    for place, act in enumerate(entry.application.acts):
        if place not in progress.begun:
            continue
        try:
            if (why := act.take_back(context)) is not None:
                left.append(why)
        except MydynoError as error:
            failures.append(str(error))
    if failures:
        entry.journal.stuck("; ".join(failures))
        raise UndoError(
            f"{entry.application.id}: not everything could be restored:\n"
            + "\n".join(f"  - {failure}" for failure in failures),
            "fix the cause, then `mydyno rollback` continues: the journal keeps what is left",
        )
    entry.journal.restored("; ".join((because, *left)))
    return tuple(left)


def recover(store: Store, context: ApplyContext) -> tuple[str, ...]:
    """Restores what those have left that were killed together with their guardians. The store is held.

    Gives a sentence for each. Raises UndoError.
    """
    store.clear_halves()
    lines: list[str] = []
    for entry in store.unfinished():
        left = restore(entry, context, "it was interrupted, and restored by the next run")
        lines += [f"{entry.application.id} was interrupted: everything has been restored", *left]
    return tuple(lines)


def _refuse_changed(entry: Entry, context: ApplyContext) -> None:
    looks = (act.look(context) for act in entry.application.acts)
    if changed := [look.says for look in looks if look.state == "elsewhere"]:
        raise ApplyError(f"changed while mydyno was about to begin: {'; '.join(changed)}", "begin again")


def _do(entry: Entry, context: ApplyContext, report: Report) -> None:
    for place, act in enumerate(entry.application.acts):
        report(act.sentence())
        entry.journal.begin(place)
        act.do(context)
    report("verify")
    for act in entry.application.acts:
        look = act.look(context)
        if look.state not in ("after", "unseen"):
            raise ApplyError(f"it did not hold: {act.sentence()}, but {look.says}")


def _guarded(entry: Entry, context: ApplyContext) -> AbstractContextManager[None]:
    because = f"the mydyno that did it (process {os.getpid()}) was interrupted"
    return guarded(lambda: restore(entry, context, because))


def _because(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return (str(error) or type(error).__name__).splitlines()[0]


def _unchanged(error: BaseException) -> BaseException:
    if isinstance(error, MydynoError):
        return ApplyError(f"{error.message}; everything is as it was before", error.hint)
    return error
