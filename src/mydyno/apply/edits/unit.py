"""A property of the server's unit: /etc/systemd/system/UNIT.d/zz-mydyno.conf.

Drop-ins are read by name, and the last one counts (systemd.unit(5)); `systemctl edit` calls its own
override.conf, which comes before.
"""

from __future__ import annotations

import re

from mydyno.apply.change import SetUnit
from mydyno.apply.edits.lines import HEADER
from mydyno.apply.edits.texts import RefusedError, Texts

NAME = "zz-mydyno.conf"
_UNIT = re.compile(r"[A-Za-z0-9:_][A-Za-z0-9:_.\\@-]*\.service")
_SECTION = "[Service]"


def set_unit(texts: Texts, change: SetUnit) -> None:
    """Raises RefusedError for what is no service, and when a later drop-in says the same."""
    if not _UNIT.fullmatch(change.unit):
        raise RefusedError(f"{change.unit} is not a systemd service")
    path = drop_in(change.unit)
    folder = path.removesuffix(f"/{NAME}")
    for name in texts.names(folder) or ():
        if name > NAME and name.endswith(".conf"):
            for number, line in enumerate((texts.get(f"{folder}/{name}") or "").split("\n"), start=1):
                if line.partition("=")[0].strip() == change.name:
                    raise RefusedError(f"{folder}/{name}:{number} says {change.name}, and it is read later")
    texts.put(path, _with(texts.get(path), change.name, change.value))


def drop_in(unit: str) -> str:
    """The path of mydyno's."""
    return f"/etc/systemd/system/{unit}.d/{NAME}"


def _with(text: str | None, name: str, value: str) -> str:
    lines = (f"{HEADER}{_SECTION}\n" if text is None else text).splitlines()
    for position, line in enumerate(lines):
        if line.startswith(f"{name}="):
            lines[position] = f"{name}={value}"
            break
    else:
        lines.append(f"{name}={value}")
    return "\n".join(lines) + "\n"
