"""The syntax of new texts, asked of the programs that will read them, before any of them is put in place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mydyno.apply.checks.fstab import fstab_faults
from mydyno.apply.checks.option_file import option_faults
from mydyno.apply.checks.udev import udev_faults
from mydyno.apply.checks.unit import unit_faults
from mydyno.apply.edits.texts import Texts
from mydyno.apply.reading import Running
from mydyno.core.errors import ApplyError

Found = tuple[str, list[str] | None]
"""What was looked at, and what is wrong with it; None: nobody here can tell."""


def check(texts: Texts, root: Path, server: Running) -> tuple[str, ...]:
    """Asks of every new text what the program for it holds of it; what was wrong before does not count.

    Gives a sentence for what nobody here can check. Raises ApplyError with all that is wrong.
    """
    found = list(_found(texts, root, server))
    faults = [f"{what}: {fault}" for what, told in found for fault in told or ()]
    if faults:
        raise ApplyError("the new files are not right, nothing was changed:\n  " + "\n  ".join(faults))
    return tuple(f"{what}: nothing here can check it" for what, told in found if told is None)


def _found(texts: Texts, root: Path, server: Running) -> Iterator[Found]:
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
