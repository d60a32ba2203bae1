"""fstab, udev rules and units, read by the program that will read them. None: that program is not here."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from mydyno.core.errors import MissingToolError
from mydyno.machine.local import LocalHost

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
