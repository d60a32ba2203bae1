"""A property of the server's unit: /etc/systemd/system/UNIT.d/zz-mydyno.conf.

Drop-ins are read by name, and the last one counts (systemd.unit(5)); `systemctl edit` calls its own
override.conf, which comes before.
"""

import re

from mydyno.apply.change import SetUnit
from mydyno.apply.edits.texts import HEADER, RefusedError, Texts, set_line

NAME = "zz-mydyno.conf"
_UNIT = re.compile(r"[A-Za-z0-9:_][A-Za-z0-9:_.\\@-]*\.service")


def set_unit(texts: Texts, change: SetUnit) -> None:
    """Raises RefusedError for a unit of another kind, and when a later drop-in sets the same property."""
    if not _UNIT.fullmatch(change.unit):
        raise RefusedError(f"{change.unit} is not a systemd service")
    path = drop_in(change.unit)
    folder = path.removesuffix(f"/{NAME}")
    for name in texts.names(folder) or ():
        if name > NAME and name.endswith(".conf"):
            for number, line in enumerate((texts.get(f"{folder}/{name}") or "").split("\n"), start=1):
                if line.partition("=")[0].strip() == change.name:
                    raise RefusedError(f"{folder}/{name}:{number} says {change.name}, and it is read later")
    text = texts.get(path) or f"{HEADER}[Service]\n"
    texts.put(path, set_line(text, f"{change.name}=", f"{change.name}={change.value}"))


def drop_in(unit: str) -> str:
    """The path of mydyno's."""
    return f"/etc/systemd/system/{unit}.d/{NAME}"
