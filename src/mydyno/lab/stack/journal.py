"""Undo before do: the way back is on disk before the first step is taken.

`journal.jsonl` in the lab is only ever appended to. A line is either an intention with its undo
(perhaps in the place of an earlier one) or the number of an intention that has been undone; both are
synced before the call returns, so a SIGKILL or a power cut at any moment leaves at worst an undo of
something that never happened, and undoing that does nothing.
"""

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from mydyno.core.durable import SyncedLog
from mydyno.core.errors import LabError, UndoError
from mydyno.core.visible import visible_line
from mydyno.core.writing import writing_hint
from mydyno.lab.stack.undo import PRIVATE_NAME, UNDO, DetachLoops, Undo, receipts
from mydyno.lab.stack.undo.base import WayBack
from mydyno.lab.stack.undo.block_devices import attached_loops

FILE_NAME = "journal.jsonl"


_Number = Annotated[int, Field(ge=1, lt=2**53)]


class _Intended(BaseModel):
    """A line: what is about to be done, by its way back."""

    model_config = ConfigDict(extra="forbid")

    intend: _Number
    undo: Undo
    instead_of: _Number | None = None


class _Undone(BaseModel):
    """A line: it has been undone."""

    model_config = ConfigDict(extra="forbid")

    undone: _Number


_LINE: TypeAdapter[_Intended | _Undone] = TypeAdapter(_Intended | _Undone)


class Journal:
    """The undo journal of one lab. One process at a time may write it: the lab's lock sees to that."""

    def __init__(self, lab: Path) -> None:
        """Opens the journal in the folder `lab`, which must exist. Raises LabError when it cannot."""
        lab = lab.resolve()
        self.path = lab / FILE_NAME
        self._lock = threading.Lock()
        self.left: list[str] = []
        """What the ways back have left as it is, since another program has changed it: a sentence each."""
        self._log = SyncedLog(lab, self.path)
        try:
            self._open, self._damaged, self._next = _replayed(self._log.lines())
            self._log.create()
        except OSError as error:
            raise LabError(f"the undo journal {self.path} cannot be opened: {error.strerror}") from error
        self._replayed_numbers = frozenset(self._open)
        """Intentions that were in the file when it was opened: another user may have written them."""

    def intend(self, undo: Undo, instead_of: int | None = None) -> int:
        """Records how to undo what is about to be done; do it only after this has returned.

        Gives the number to hand to `undo`. `instead_of` is the number of an earlier intention of which more
        is known now: one line closes the one and opens the other. Raises LabError when the line cannot be
        written, and then the act must not happen.
        """
        with self._lock:
            number = self._next
            if undo.needs_receipt:
                receipts.write(self.path.parent, undo.model_dump_json())
            earlier = self._open.get(instead_of or 0)
            entry: dict[str, object] = {"intend": number, "undo": UNDO.dump_python(undo, mode="json")}
            if instead_of is not None:
                entry["instead_of"] = instead_of
            try:
                self._log.append(json.dumps(entry, separators=(",", ":")).encode())
            except OSError as error:
                raise LabError(
                    f"the undo journal {self.path} cannot be written: {error.strerror}",
                    writing_hint(error, self.path),
                ) from error
            self._next += 1
            self._open[number] = undo
            if instead_of is not None:
                self._open.pop(instead_of, None)
                self._forget(earlier)
            return number

    def undo(self, number: int) -> None:
        """Undoes one intention and records that. Raises UndoError, and then the intention stays open."""
        undo: WayBack | None = self._open.get(number)
        if undo is None:
            return
        if number in self._replayed_numbers and undo.needs_receipt:
            self._refuse_others(undo)
        self.left.extend(undo.carry_out() or ())
        with self._lock:
            # Two threads may undo the same act at once; it is recorded once.
            if self._open.pop(number, None) is None:
                return
            # On a full disk the line is lost and the undo is repeated at the next clean-up, where it
            # finds nothing to do. Failing here would hide the error that brought us down.
            try:
                self._log.append(b'{"undone":%d}' % number)
            except OSError:
                return
            self._forget(undo)

    def outstanding(self) -> list[Undo]:
        """What has been intended and not undone, oldest first."""
        return [self._open[number] for number in sorted(self._open)]

    def replay(self) -> list[Undo]:
        """Undoes everything outstanding, newest first, and gives what was undone.

        One failure does not stop the rest. Raises UndoError at the end naming every failure.
        """
        undone, failures = [], [f"{self.path} line {line} is damaged" for line in self._damaged]
        for number in sorted(self._open, reverse=True):
            undo = self._open[number]
            try:
                self.undo(number)
                undone.append(undo)
            except UndoError as error:
                failures.append(str(error))
        if failures:
            raise UndoError(
                "not everything could be restored:\n" + "\n".join(f"  - {failure}" for failure in failures),
                "fix the cause and run `mydyno cleanup` again: the journal keeps what is left",
            )
        return undone

    def _refuse_others(self, undo: WayBack) -> None:
        if not receipts.is_ours(self.path.parent, undo.model_dump_json()):
            raise UndoError(
                f"refused: {receipts.receipts_folder()} has no record that mydyno began this in this lab "
                f"as this user: {visible_line(undo.sentence())}",
                "clean up as the user that ran it, with the lab where it was; or undo it by hand and "
                f"remove its line from {self.path}",
            )

    def _forget(self, undo: WayBack | None) -> None:
        same = any(undo == each for each in self._open.values())
        if undo is not None and undo.needs_receipt and not same:
            receipts.remove(self.path.parent, undo.model_dump_json())


def outstanding_in(lab: Path) -> list[Undo]:
    """What the journal of `lab` still holds, oldest first; it is only read. Raises LabError."""
    lab = lab.resolve()
    try:
        held, _, _ = _replayed(SyncedLog(lab, lab / FILE_NAME).lines())
    except OSError as error:
        raise LabError(f"cannot read {lab / FILE_NAME}: {error.strerror}") from error
    return [held[number] for number in sorted(held)]


def _replayed(lines: Sequence[bytes]) -> tuple[dict[int, Undo], list[int], int]:
    """Whole lines -> what is intended and not undone by number, the damaged lines, the next number."""
    held: dict[int, Undo] = {}
    damaged: list[int] = []
    following = 1
    for line_number, line in enumerate(lines, start=1):
        try:
            entry = _LINE.validate_json(line)
            if isinstance(entry, _Undone):
                held.pop(entry.undone, None)
            else:
                held[entry.intend] = entry.undo
                held.pop(entry.instead_of or 0, None)
                following = max(following, entry.intend + 1)
        except ValidationError:
            damaged.append(line_number)
    return held, damaged, following


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
