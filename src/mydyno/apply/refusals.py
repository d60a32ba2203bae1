"""Changes that are refused before anything is written: pure.

A server does not start with a page size that its files do not have, with a buffer pool larger than the
machine, or with a redo log larger than its disk; a line break in a value would be a separate line; and what
mydyno sets at all is listed (allowed.py).
"""

from dataclasses import dataclass

from mydyno.apply.allowed import refuse_foreign
from mydyno.apply.change import ByHand, Change, SetVariable
from mydyno.apply.edits.texts import RefusedError
from mydyno.core.server_version import Version
from mydyno.core.units import bytes_or_none, format_bytes
from mydyno.server.variables import catalogue
from mydyno.server.variables.row import same_meaning

_TAKEN = ("once", "each connection", "each operation")
"""How variables of the catalogue take memory that the server asks the system for at that size."""
_REDO = ("innodb_log_file_size", "innodb_redo_log_capacity")
_ALLOWED = "\t"


@dataclass(frozen=True)
class Room:
    """Space on the server's machine; None: not known from here."""

    memory_bytes: int | None = None
    redo_bytes: int | None = None
    """Free space where the redo log lies, and the size that it has already."""


def refuse_impossible(change: Change, version: Version, now: str | None, room: Room) -> None:
    """Raises RefusedError. `now`: the value in force; None: it is not known."""
    _refuse_control_characters(change)
    if isinstance(change, SetVariable):
        _refuse_fixed(change, version, now)
        _refuse_too_large(change, room)
    refuse_foreign(change)


def _refuse_control_characters(change: Change) -> None:
    """Of all that becomes text of a file or is shown; what is done by hand is never written."""
    if isinstance(change, ByHand):
        return
    for field, given in change.model_dump(exclude={"kind"}).items():
        for text in given if isinstance(given, tuple | list) else (given,):
            bad = _control_character(text) if isinstance(text, str) else None
            if bad is not None:
                raise RefusedError(
                    f"{change.target!a}: its {field} {text!a} has {bad}, and must be one line of text",
                    "correct the advice, or ask for it again: mydyno advise --out FILE",
                )


def _control_character(text: str) -> str | None:
    for position, character in enumerate(text, start=1):
        if character not in _ALLOWED and not character.isprintable():
            name = "a line break" if character in "\n\r" else f"the control character {character!r}"
            return f"{name} as character {position}"
    return None


def _refuse_fixed(change: SetVariable, version: Version, now: str | None) -> None:
    row = catalogue().get(change.name)
    because = row.fixed_because(version) if row else None
    if because is None or (now is not None and same_meaning(now, change.value)):
        return
    has = f" is {now}, and" if now is not None else ""
    raise RefusedError(
        f"{change.name}{has} cannot become {change.value} on existing data: {because}",
        "it needs a new data directory, filled from a dump",
    )


def _refuse_too_large(change: SetVariable, room: Room) -> None:
    row, wanted = catalogue().get(change.name), bytes_or_none(change.value)
    if row is None or row.unit != "bytes" or wanted is None:
        return
    for counts, most, what in (
        (row.memory in _TAKEN, room.memory_bytes, "the memory of this machine"),
        (change.name in _REDO, room.redo_bytes, "the space for the redo log"),
    ):
        if counts and most is not None and wanted > most:
            raise RefusedError(f"{change.name} = {change.value} is more than {what}, {format_bytes(most)}")
