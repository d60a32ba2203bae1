"""A unit with its drop-in, read by systemd-analyze(1) verify."""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath

from mydyno.core.errors import MissingToolError
from mydyno.machine.local import LocalHost


def unit_faults(path: str, new: str) -> list[str] | None:
    """What systemd says of the drop-in at `path` with this text; None: there is no systemd-analyze.

    The text lies in a folder that is searched before all others, so the installed unit is read with it.
    """
    drop_in = PurePosixPath(path)
    unit = drop_in.parent.name.removesuffix(".d")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, drop_in.parent.name, drop_in.name)
        place.parent.mkdir()
        place.write_text(new, encoding="utf-8", errors="surrogateescape")
        # An empty path at the end stands for the usual ones (systemd.unit(5)).
        search = f"SYSTEMD_UNIT_PATH={folder}:"
        try:
            done = LocalHost().run(["env", search, "systemd-analyze", "verify", "--man=no", unit])
        except MissingToolError:
            return None
    return faults_of_drop_in(done.stdout + done.stderr, str(place))


def faults_of_drop_in(said: str, place: str) -> list[str]:
    """The lines that name the drop-in; what systemd says of other files was there before."""
    return [line.replace(f"{place}:", "line ").strip() for line in said.splitlines() if place in line]
