"""Restores what a killed run left: the same journal, replayed, and a look for stray loop devices."""

from __future__ import annotations

from pathlib import Path

from mydyno.lab.stack.journal import FILE_NAME, Journal
from mydyno.lab.stack.undo import PRIVATE_NAME, DetachLoops
from mydyno.lab.stack.undo.detach_loops import attached_loops


def cleanup(lab: Path) -> list[str]:
    """Undoes everything that the lab's journal still holds, newest first, and says what, a sentence each.

    The caller holds the lab's lock: a run that is still alive must not lose its servers. Raises
    UndoError naming everything that could not be restored.
    """
    if not (lab / FILE_NAME).is_file():
        return []
    journal = Journal(lab)
    undone = [undo.sentence() for undo in journal.replay()] + journal.left
    return undone + _sweep_loops(lab.resolve())


def _sweep_loops(lab: Path) -> list[str]:
    """Detaches loop devices over this lab's own files that are in no journal (it may have been lost)."""
    if not any(Path("/sys/block").glob("loop*/loop")):
        return []
    strays = []
    for file in attached_loops().values():
        folder = file.parent
        if file.is_relative_to(lab) and PRIVATE_NAME.fullmatch(folder.name):
            strays.append(DetachLoops(folder=folder))
    for stray in dict.fromkeys(strays):
        stray.carry_out()
    return [stray.sentence() for stray in dict.fromkeys(strays)]
