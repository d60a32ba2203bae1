"""The syntax of new texts, checked by the programs that will read them before any of them is put in place."""

from collections.abc import Iterator
from pathlib import Path

from mydyno.apply.checks.option_file import option_faults
from mydyno.apply.checks.programs import fstab_faults, udev_faults, unit_faults
from mydyno.apply.edits.texts import Texts
from mydyno.apply.reading import Running
from mydyno.core.errors import ApplyError

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
