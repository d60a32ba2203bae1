"""A workload file with the files that it extends, as one set of definitions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from mydyno.core.document.problems import SpecErrors
from mydyno.core.document.source import parse, read_text
from mydyno.core.nearest import nearest
from mydyno.lab.workload.written import Gathered, Part, Written

BUILTIN = Path(__file__).with_name("builtin")
PARTS = BUILTIN / "parts"
_KNOWN_AS = {"oltp": "oltp-read-write"}
"""sysbench's one test of that name was split in its release 1.0."""

FILE_KEYS = {
    "workload": "The name: small letters, digits and single dashes.",
    "about": "What it is, in a sentence or two.",
    "source": "Where its facts come from.",
    "extends": "A workload, or a list of them, whose definitions are taken over; a definition here replaces "
    "the one of the same name there. The name of a built-in one, or a path to a file.",
    "options": "NAME: DECLARATION; what can be chosen when the workload is used.",
    "constants": "NAME: EXPRESSION, worked out from options and the constants above.",
    "values": "NAME: EXPRESSION; every use draws again.",
    "dictionaries": "NAME: words to draw from.",
    "tables": "NAME: how the table is made and filled.",
    "blocks": "NAME: steps that several transactions `use`.",
    "transactions": "NAME: a list of steps, or `{weight: NUMBER, steps: [...]}`. An event is one of them, "
    "chosen by weight.",
    "connection": "How connections are held, see below.",
    "prepared": "`true`, `false` or an expression: statements are prepared on the server.",
    "retry": "Error codes after which an event starts again with new values, as `[1213, 1205]`.",
    "checks": "NAME: a query that has no rows when all is well; run after the load.",
}
CONNECTION_KEYS = {
    "open": "`phase` (default): all are opened before the clock starts. `lazy`: each when its first event "
    "begins. `event`: for each event, and closed behind it.",
    "lost": "`close` (default): a lost connection stays closed. `reopen`: it is opened again.",
    "session": "Statements that each new connection sends first; not counted.",
}
TRANSACTION_KEYS = {
    "weight": "How often it is chosen, relative to the weights of the others; 1 without it.",
    "steps": "What it does.",
}
_NAMED = ("options", "constants", "values", "dictionaries", "tables", "blocks", "transactions", "checks")
_SETTINGS = ("connection", "prepared", "retry")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass
class Definitions:
    """Everything by its name, each with the file that it is in."""

    part: Part
    name: str = ""
    about: str = ""
    source: str | None = None
    named: dict[str, dict[str, Written]] = field(default_factory=lambda: {key: {} for key in _NAMED})
    settings: dict[str, Written] = field(default_factory=dict)

    def take_over(self, other: Definitions) -> None:
        """Adds what `other` defines; transactions of several files are one set."""
        for key in _NAMED:
            self.named[key].update(other.named[key])
        self.settings.update(other.settings)


@lru_cache
def builtin_names() -> tuple[str, ...]:
    """The names of the workloads that come with mydyno."""
    return tuple(sorted(file.stem for file in BUILTIN.glob("*.yaml")))


def nearest_workload(name: str, known: Iterable[str]) -> str | None:
    """The workload of `known` that `name` most likely stands for; None when nothing is close."""
    known = tuple(known)
    meant = _KNOWN_AS.get(name.lower())
    return meant if meant in known else nearest(name, known)


def open_part(name_or_path: str | Path) -> Part:
    """The file of a built-in workload or at a path. Raises SpecErrors when it cannot be read."""
    if isinstance(name_or_path, Path) or "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")):
        path = Path(name_or_path)
        return part_from(read_text(path, "a workload"), str(path), path.parent)
    if (part := _builtin_part(name_or_path)) is not None:
        return part
    known = builtin_names()
    message = "unknown workload"
    allowed = ", ".join(known) + ", or the path of a file"
    raise SpecErrors.of(name_or_path, None, message, None, allowed, nearest_workload(name_or_path, known))


@lru_cache
def _builtin_part(name: str) -> Part | None:
    """A file that comes with mydyno. Kept, since many workloads extend the same one."""
    for folder in (BUILTIN, PARTS):
        path = folder / f"{name}.yaml"
        if path.is_file():
            return part_from(read_text(path), path.name, folder)
    return None


def part_from(text: str, file: str, folder: Path) -> Part:
    return Part(file, folder, text, parse(text, file, "a workload"))


def read_definitions(part: Part, gathered: Gathered, above: tuple[str, ...] = ()) -> Definitions:
    """The definitions of a file and of those that it extends; what is wrong goes to `gathered`."""
    root = part.root
    definitions = Definitions(part)
    gathered.add(*root.only(FILE_KEYS, "the file"))
    with gathered.here():
        definitions.name = _name(root)
    for base in _bases(root, gathered):
        with gathered.here():
            definitions.take_over(_extended(base, part, gathered, above))
    for key in _NAMED:
        if (written := root.get(key)) is not None:
            with gathered.here():
                entries = written.entries(key)
                if key == "transactions":
                    definitions.named[key] = {}
                definitions.named[key].update(entries)
    for key in _SETTINGS:
        if (written := root.get(key)) is not None:
            definitions.settings[key] = written
    for key in ("about", "source"):
        if (written := root.get(key)) is not None:
            with gathered.here():
                setattr(definitions, key, " ".join(written.text_of(key).split()))
    return definitions


def _name(root: Written) -> str:
    written = root.get("workload")
    if written is None:
        raise root.wrong_key("workload is missing", "for example workload: my-workload")
    name = written.text_of("workload")
    if not _SLUG.fullmatch(name) or len(name) > 64:
        likely = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64].strip("-") or None
        raise written.wrong("workload is not a name", "small letters, digits and single dashes", likely)
    return name


def _bases(root: Written, gathered: Gathered) -> tuple[Written, ...]:
    extends = root.get("extends")
    if extends is None:
        return ()
    if not extends.is_list:
        return (extends,)
    with gathered.here():
        return extends.items("extends")
    return ()


def _extended(base: Written, part: Part, gathered: Gathered, above: tuple[str, ...]) -> Definitions:
    name = base.text_of("extends")
    is_path = "/" in name or name.endswith((".yaml", ".yml"))
    identity = str((part.folder / name).resolve()) if is_path else name
    if identity in above:
        raise base.wrong("the file extends itself", "files without a circle")
    try:
        opened = open_part(part.folder / name if is_path else name)
    except SpecErrors as errors:
        [first, *_] = errors.problems
        if first.position is None:
            raise base.wrong(first.message, first.allowed, first.nearest) from None
        gathered.problems += errors.problems
        raise base.wrong("the file that this names is wrong") from None
    return read_definitions(opened, gathered, (*above, identity))
