"""What the edits of files of lines share: a line of mydyno's file, and switching off one of another's."""

from __future__ import annotations

from mydyno.apply.edits.texts import Texts

HEADER = "# Written by mydyno apply. `mydyno history` says why, `mydyno rollback` reverts it.\n"
_SWITCHED_OFF = "# mydyno: "


def set_line(text: str | None, starts: str, line: str) -> str:
    """A file of mydyno's in which the line that begins with `starts` is `line`; a new one comes last."""
    lines = (HEADER if text is None else text).splitlines()
    for position, old in enumerate(lines):
        if old.startswith(starts):
            lines[position] = line
            break
    else:
        lines.append(line)
    return "\n".join(lines) + "\n"


def switch_off(texts: Texts, path: str, number: int, because: str) -> None:
    """Makes a comment of one line (counted from 1) of a file that is not mydyno's, and says why above it."""
    text = texts.get(path)
    assert text is not None, "the line has been read from it"
    lines = text.split("\n")
    lines[number - 1 : number] = [f"{_SWITCHED_OFF}{because}", f"#{lines[number - 1]}"]
    texts.put(path, "\n".join(lines))
