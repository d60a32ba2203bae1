"""Putting back what a killed run left: the same journal, replayed."""

from __future__ import annotations

from pathlib import Path

from mydyno.stack.journal import FILE_NAME, Journal
from mydyno.stack.undo import EndProcesses, Undo


def cleanup(lab: Path) -> list[str]:
    """Undoes everything that the lab's journal still holds, newest first, and says what, a sentence each.

    The caller holds the lab's lock: a run that is still alive must not lose its servers. Raises
    UndoError naming everything that could not be put back.
    """
    if not (lab / FILE_NAME).is_file():
        return []
    journal = Journal(lab)
    try:
        return [_sentence(undo) for undo in journal.replay()]
    finally:
        journal.close()


def _sentence(undo: Undo) -> str:
    if isinstance(undo, EndProcesses):
        return f"made sure that no process with {undo.argument} runs"
    return f"made sure that {undo.path} is gone"
