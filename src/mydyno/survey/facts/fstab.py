"""/etc/fstab, read without losing a byte and edited at one field only: pure.

Sources: fstab(5) of util-linux; libmount's mnt_parse_table_line, which drops a whole line whose fifth or
sixth field is not a number; mountall(8) of Upstart for the options that only it has known.
"""

import re
from collections.abc import Sequence

from mydyno.survey.facts.storage import FstabEntry

_FIELD = re.compile(r"\S+")
_OPTIONS = 3
"""Which field they are, counted from 0."""
_NUMBERS = ((4, "dump"), (5, "pass"))
_OF_UPSTART = {
    "nobootwait": "nofail",
    "bootwait": None,
    "optional": "nofail",
    "showthrough": None,
    "timeout": "x-systemd.device-timeout=",
}
"""Options of mountall, which left with Ubuntu 15.04: what stands for each today. To a kernel they are unknown
options, and it does not mount."""
_NOT_MOUNTED = ("swap", "none")


def parse_fstab(text: str) -> tuple[FstabEntry, ...]:
    """Every line but comments and empty ones, with what is wrong with it."""
    return tuple(
        _entry(number, _FIELD.findall(line))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    )


def with_options(text: str, line: int, options: Sequence[str]) -> str:
    """The same file with other options in that line, which must have some; all else byte for byte.

    Raises ValueError for a line without an options field, or for an option with a space in it.
    """
    lines = text.split("\n")
    fields = list(_FIELD.finditer(lines[line - 1]))
    if len(fields) <= _OPTIONS or any(_FIELD.fullmatch(option) is None for option in options):
        raise ValueError(f"line {line} of fstab cannot be given the options {options!r}")
    begin, end = fields[_OPTIONS].span()
    lines[line - 1] = lines[line - 1][:begin] + ",".join(options) + lines[line - 1][end:]
    return "\n".join(lines)


def _entry(number: int, fields: Sequence[str]) -> FstabEntry:
    source, point, kind, options = (*(_unescaped(field) for field in fields[:4]), "", "", "", "")[:4]
    return FstabEntry(
        line=number,
        source=source,
        mount_point=point,
        kind=kind,
        options=tuple(option for option in options.split(",") if option),
        fault=_fault(fields, point, kind, options),
    )


def _fault(fields: Sequence[str], point: str, kind: str, options: str) -> str | None:
    if len(fields) < 3:
        return f"a line of {len(fields)} fields: source, mount point and type are the least"
    for position, name in _NUMBERS:
        if len(fields) > position and not fields[position].isdigit():
            space = ": is there a space in the options?" if options.endswith(",") else ""
            return (
                f"{fields[position]!r} is where the number for {name} belongs{space}"
                " (mount and systemd leave out the whole line)"
            )
    if kind != "swap" and not point.startswith("/") and point not in _NOT_MOUNTED:
        return f"the mount point {point!r} is not a path from the root"
    for option in options.split(","):
        name = option.partition("=")[0]
        if name in _OF_UPSTART:
            today = _OF_UPSTART[name]
            return f"{name} is an option of Upstart's alone" + (f"; today it is {today}" if today else "")
    return None


def _unescaped(field: str) -> str:
    """Spaces and tabs inside a field are written as octal (fstab(5))."""
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), field)
