"""The syntax of new texts, asked of the programs that will read them, before any of them is put in place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mydyno.apply.checks.fstab import fstab_faults
from mydyno.apply.checks.udev import udev_faults
from mydyno.apply.checks.unit import unit_faults
from mydyno.core.errors import ApplyError

NewText = tuple[str | None, str]
"""The text before (None: there was no such file) and the new one."""


def check(texts: Mapping[str, NewText], root: Path) -> tuple[str, ...]:
    """Asks of every new text what the program for it holds of it; what was wrong before does not count.

    Gives a sentence for each text that nobody here can check. Raises ApplyError with all that is wrong.
    """
    faults: list[str] = []
    unchecked: list[str] = []
    for path, (old, new) in texts.items():
        if path == "/etc/fstab":
            found = fstab_faults(old or "", new)
        elif path.endswith(".rules"):
            found = udev_faults(new)
        elif "/systemd/system/" in path and root == Path("/"):
            found = unit_faults(path, new)
        else:
            continue  # Option files are the server's to check.
        if found is None:
            unchecked.append(f"{path}: this machine has no program that checks it")
        else:
            faults += [f"{path}: {fault}" for fault in found]
    if faults:
        raise ApplyError("the new files are not right, nothing was changed:\n  " + "\n  ".join(faults))
    return tuple(unchecked)
