"""The syntax of new texts, asked of the programs that will read them, before any of them is put in place."""

from __future__ import annotations

from pathlib import Path

from mydyno.apply.checks.fstab import fstab_faults
from mydyno.apply.checks.option_files import option_faults
from mydyno.apply.checks.udev import udev_faults
from mydyno.apply.checks.unit import unit_faults
from mydyno.apply.edits.option_file import Reading
from mydyno.apply.edits.texts import Texts
from mydyno.apply.reading import Running
from mydyno.core.errors import ApplyError


def check(texts: Texts, server: Running, root: Path) -> tuple[str, ...]:
    """Asks of every new text what the program for it holds of it; what was wrong before does not count.

    Gives a sentence for each text that nobody here can check, and for each value that the server would take
    otherwise. Raises ApplyError with all that is wrong.
    """
    faults: list[str] = []
    told: list[str] = []
    for path, (old, new) in texts.changed().items():
        if path == "/etc/fstab":
            found = fstab_faults(old or "", new)
        elif path.endswith(".rules"):
            found = udev_faults(new)
        elif "/systemd/system/" in path and root == Path("/"):
            found = unit_faults(path, new)
        else:
            continue
        if found is None:
            told.append(f"{path}: this machine has no program that checks it")
        else:
            faults += [f"{path}: {fault}" for fault in found]
    if server.reading is not None and _reads_any(server.reading, texts):
        said = option_faults(server.binary, server.reading, texts) if server.binary else None
        if said is None:
            told.append("the option files: the server's program is not here to check them")
        else:
            faults += [f"the server: {fault}" for fault in said.refused]
            told += [f"the server: {adjusted}" for adjusted in said.adjusted]
    if faults:
        raise ApplyError("the new files are not right, nothing was changed:\n  " + "\n  ".join(faults))
    return tuple(told)


def _reads_any(reading: Reading, texts: Texts) -> bool:
    """Whether any of the files that change is one that the server reads when it starts."""
    changed = texts.changed()
    return any(texts.real(path) in changed for path in reading.of(texts).files)
