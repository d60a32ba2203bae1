"""Option files, read by the very server binary that will start with them; it starts nothing by that.

MySQL from 8.0.16 on has --validate-config (Reference Manual, "Server Configuration Validation"). The others
read all their options before they print --verbose --help, and say on the way what they do not take.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from mydyno.apply.edits.option_file import Reading
from mydyno.apply.edits.texts import Texts
from mydyno.core.errors import MissingToolError
from mydyno.core.server_version import Version
from mydyno.facts.option_syntax import Include, items
from mydyno.host.local import LocalHost

_VALIDATES = (8, 0, 16)
_SAID = re.compile(r"\[(ERROR|Warning)\] (?:\[MY-\d+\] \[\w+\] )?(.+)")
_ADJUSTED = re.compile(r"option '\S+': .* adjusted to ")
_NOT_OF_OPTIONS = ("Aborting",)


@dataclass(frozen=True)
class Said:
    """Of a server about its options."""

    refused: tuple[str, ...]
    adjusted: tuple[str, ...]
    """Values that it takes otherwise than they are written."""


def option_faults(binary: Path, reading: Reading, texts: Texts) -> Said | None:
    """What the server says of the new texts and not of the old ones. None: the program cannot be run."""
    try:
        old = _said(binary, reading, Texts(texts.read, texts.names_in, texts.real))
        new = _said(binary, reading, texts)
    except MissingToolError:
        return None
    return Said(_without(new.refused, old.refused), _without(new.adjusted, old.adjusted))


def parse_said(text: str) -> Said:
    """Of a server's standard error."""
    said = _SAID.findall(text)
    errors = [what.rstrip(".") for kind, what in said if kind == "ERROR"]
    adjusted = [what for kind, what in said if kind == "Warning" and _ADJUSTED.search(what)]
    return Said(_without(errors, _NOT_OF_OPTIONS), tuple(adjusted))


def _without(said: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    return tuple(each for each in said if each not in known)


def _said(binary: Path, reading: Reading, texts: Texts) -> Said:
    # The files may hold passwords, and the folder is for nobody else.
    with tempfile.TemporaryDirectory() as folder:
        start = _copy(reading, texts, Path(folder))
        suffix = [f"--defaults-group-suffix={reading.suffix}"] if reading.suffix else []
        ask = ["--validate-config"] if _validates(reading.version) else ["--verbose", "--help"]
        done = LocalHost().run([str(binary), f"--defaults-file={start}", *suffix, *ask])
        said = parse_said(done.stderr.replace(folder, ""))
    if done.returncode != 0 and not said.refused:
        return Said((f"{binary.name} ended with {done.returncode}",), said.adjusted)
    return said


def _validates(version: Version) -> bool:
    return not version.is_mariadb and version.numbers >= _VALIDATES


def _copy(reading: Reading, texts: Texts, folder: Path) -> Path:
    """All files that the server reads and what they include, below `folder`; gives the one to begin with."""
    files = reading.of(texts)
    for path in (*files.folders, *files.files):
        place = folder / path.removeprefix("/")
        (place if path in files.folders else place.parent).mkdir(parents=True, exist_ok=True)
    for path in files.files:
        text = _including_copies(texts.get(path) or "", folder)
        (folder / path.removeprefix("/")).write_text(text, encoding="utf-8", errors="surrogateescape")
    start = folder / "start.cnf"
    begins = (path for path in reading.start_files if path in files.files)
    start.write_text("".join(f"!include {folder / path.removeprefix('/')}\n" for path in begins))
    return start


def _including_copies(text: str, folder: Path) -> str:
    lines = text.split("\n")
    for item in items(text):
        if isinstance(item, Include):
            word = "includedir" if item.is_folder else "include"
            lines[item.line - 1] = f"!{word} {folder / item.path.removeprefix('/')}"
    return "\n".join(lines)
