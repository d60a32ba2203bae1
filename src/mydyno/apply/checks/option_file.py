"""All option files together, read by the server's own program as it would read them at its next start."""

import os
import re
import tempfile
from pathlib import Path

from mydyno.apply.edits.option_file import Reading
from mydyno.apply.edits.texts import Texts
from mydyno.core.errors import MydynoError
from mydyno.core.server_variables import option_name
from mydyno.machine.local import LocalHost
from mydyno.server.variables.settings import settings_difference

_DIRECTIVE = re.compile(r"^(\s*!\s*include(?:dir)?\s+)(/.*)$", re.MULTILINE)
_COMPLAINT = re.compile(r"\[ERROR\]|unknown (?:variable|option)|\berror:", re.IGNORECASE)
_ADJUSTED = re.compile(r"option '([\w-]+)': (?:un)?signed value (\d+) adjusted to (\d+)")
"""A value outside the bounds of its variable, or no multiple of its block: the server takes another one."""
_VALIDATES = (8, 0, 16)
"""MySQL's first release with --validate-config; the others read their files before they print --help."""


def option_faults(texts: Texts, reading: Reading, binary: Path) -> list[str] | None:
    """What the program reports of the new files and not of the old; None: it cannot be run.

    It sees copies that include each other, so nothing needs to be in place. Nothing is started: it ends when
    it has read them.
    """
    new = _complaints(texts, reading, binary)
    if not new:
        return new
    old = _complaints(texts.unchanged(), reading, binary)
    return None if old is None else [fault for fault in new if fault not in old]


def _complaints(texts: Texts, reading: Reading, binary: Path) -> list[str] | None:
    with tempfile.TemporaryDirectory() as folder:
        main = mirrored(texts, reading, Path(folder))
        try:
            done = LocalHost().run([str(binary), *_arguments(reading, main)])
        except MydynoError:
            return None
    lines = [line.replace(folder, "").strip() for line in done.stderr.splitlines()]
    # MariaDB reports what its InnoDB does not take, and yet ends with 0: it would run without InnoDB.
    complaints = [line for line in lines if _COMPLAINT.search(line) or _is_out_of_bounds(line)]
    if done.returncode != 0 and not complaints:
        complaints = lines[-3:]
    return [re.sub(r"^\d{4}-\d\d-\d\d[T ]\s*\S+\s+\d+\s+", "", line) for line in complaints]


def _is_out_of_bounds(line: str) -> bool:
    """Rounding down to a block is what every server does; it counts as set."""
    adjusted = _ADJUSTED.search(line)
    if adjusted is None:
        return False
    name, given, taken = option_name(adjusted[1]), adjusted[2], adjusted[3]
    return any(each.why is None for each in settings_difference({name: given}, {name: taken}))


def mirrored(texts: Texts, reading: Reading, folder: Path) -> Path:
    """Copies of all that the server reads, below `folder`, and a file there that includes its first ones."""
    read = reading.of(texts)
    for path in read.files:
        copy = folder / path.removeprefix("/")
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = _DIRECTIVE.sub(rf"\g<1>{folder}\g<2>", texts.get(path) or "")
        copy.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    for path in read.folders:
        (folder / path.removeprefix("/")).mkdir(mode=0o700, parents=True, exist_ok=True)
    main = folder / "mydyno.cnf"
    starts = (path for path in reading.start_files if path in read.files)
    main.write_text("".join(f"!include {folder}{path}\n" for path in starts))
    return main


def _arguments(reading: Reading, main: Path) -> list[str]:
    suffix = [f"--defaults-group-suffix={reading.suffix}"] if reading.suffix else []
    # Without this the program refuses to be run by root.
    user = ["--user=root"] if os.geteuid() == 0 else []
    # Its messages are to come here and not into the error log of the server that runs.
    if reading.version.is_mariadb:
        mode = ["--skip-log-error", "--verbose", "--help"]
    elif reading.version.numbers >= _VALIDATES:
        mode = ["--log-error=stderr", "--validate-config"]
    else:
        mode = ["--verbose", "--help"]
    return [f"--defaults-file={main}", *suffix, *user, *mode]
