"""The environment that commands run in: the same wherever and by whomever they are started."""

from __future__ import annotations

import os

# MYSQL_HOME names a folder with a my.cnf; the others change ports, sockets and passwords of clients.
_FOREIGN = ("LC_", "LANG", "MYSQL_", "MARIADB_")

_NEUTRAL = {"LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}

# Where Debian's tools for disks are, which an ordinary user's PATH lacks.
_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


def inherited_environment() -> dict[str, str]:
    """Ours without what would change a program's language or make a server read other settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    return {**inherited, **_NEUTRAL}


def bare_environment() -> dict[str, str]:
    """None of our variables but where programs are, for a host whose files may be others."""
    ours = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    return {"PATH": os.pathsep.join(dict.fromkeys([*ours, *_FOLDERS])), **_NEUTRAL}
