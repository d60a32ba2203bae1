"""The syntax of new texts, checked by the programs that will read them before any of them is put in place.

fstab, udev rules and units are read by their programs (None: that program is not here); all option files
together by the server's own program, as it would read them at its next start.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from mydyno.apply.edits.option_file import Reading
from mydyno.apply.edits.texts import Texts
from mydyno.apply.reading import Running
from mydyno.core.errors import ApplyError, MissingToolError, MydynoError
from mydyno.core.server_variables import option_name
from mydyno.machine.local import LocalHost
from mydyno.server.variables.settings import settings_difference

Checked = tuple[str, list[str] | None]
"""What was checked, and what is wrong with it; None: no program here can check it."""


def check(texts: Texts, root: Path, server: Running) -> tuple[str, ...]:
    """Checks every new text with the program for it; what was wrong before does not count.

    Gives a sentence for what no program here can check. Raises ApplyError with all that is wrong.
    """
    checked = list(_checked(texts, root, server))
    faults = [f"{what}: {fault}" for what, faults in checked for fault in faults or ()]
    if faults:
        raise ApplyError("the new files are not right, nothing was changed:\n  " + "\n  ".join(faults))
    return tuple(f"{what}: nothing here can check it" for what, faults in checked if faults is None)


def _checked(texts: Texts, root: Path, server: Running) -> Iterator[Checked]:
    is_live = root == Path("/")
    changed = texts.changed()
    for path, (old, new) in changed.items():
        if path == "/etc/fstab":
            yield path, fstab_faults(old or "", new)
        elif path.endswith(".rules"):
            yield path, udev_faults(new)
        elif "/systemd/system/" in path:
            yield path, unit_faults(path, new) if is_live else None
    if any(path.endswith(".cnf") for path in changed) and server.reading is not None:
        faults = option_faults(texts, server.reading, server.binary) if server.binary else None
        yield "the server's option files", faults


_IGNORED_LINE = re.compile(r"parse error at line (\d+)")


def fstab_faults(old: str, new: str) -> list[str] | None:
    """What findmnt(8) --verify reports of the new text and not of the old."""
    try:
        before, after = (_verified(text) for text in (old, new))
    except MissingToolError:
        return None
    return [fault for fault in after if fault not in before]


def parse_verify(output: str, errors: str) -> list[str]:
    """Errors of `findmnt --verify`, each with its mount point; warnings do not count."""
    faults = [f"line {line} cannot be read" for line in _IGNORED_LINE.findall(errors)]
    target = ""
    for line in output.splitlines():
        if line and not line[0].isspace():
            target = line.strip()
        elif line.strip().startswith("[E]"):
            faults.append(f"{target}: {line.strip()[3:].strip()}")
    return faults


def udev_faults(new: str) -> list[str] | None:
    """What udevadm(8) verify, which systemd has since 254, reports."""
    with _written("99-mydyno.rules", new) as path:
        try:
            if LocalHost().run(["udevadm", "verify", "--help"]).returncode != 0:
                return None
            done = LocalHost().run(["udevadm", "verify", "--no-summary", str(path)])
        except MissingToolError:
            return None
    output = (done.stderr or done.stdout).replace(f"{path}:", "line ")
    return [line.strip() for line in output.splitlines() if line.strip()] if done.returncode != 0 else []


def unit_faults(path: str, new: str) -> list[str] | None:
    """What systemd-analyze(1) verify reports of the drop-in at `path` with this text.

    The text lies in a folder that is searched before all others, so the installed unit is read with it.
    """
    drop_in = PurePosixPath(path)
    unit = drop_in.parent.name.removesuffix(".d")
    with _written(f"{drop_in.parent.name}/{drop_in.name}", new) as place:
        # An empty path at the end means the usual ones (systemd.unit(5)).
        search = f"SYSTEMD_UNIT_PATH={place.parent.parent}:"
        try:
            done = LocalHost().run(["env", search, "systemd-analyze", "verify", "--man=no", unit])
        except MissingToolError:
            return None
    return faults_of_drop_in(done.stdout + done.stderr, str(place))


def faults_of_drop_in(output: str, place: str) -> list[str]:
    """The lines that name the drop-in; what systemd reports of other files was there before."""
    return [line.replace(f"{place}:", "line ").strip() for line in output.splitlines() if place in line]


def _verified(text: str) -> list[str]:
    with _written("fstab", text) as path:
        done = LocalHost().run(["findmnt", "--verify", "--tab-file", str(path)])
    return parse_verify(done.stdout, done.stderr)


@contextmanager
def _written(name: str, text: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        yield path


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
