"""mydyno's own programs, installed next to this Python, and the environment that commands run in."""

import os
import shutil
import sys
from pathlib import Path

from mydyno.core import environment
from mydyno.core.errors import MissingToolError

_NAMED = {"mydyno-engine": environment.ENGINE, "mydyno-agent": environment.AGENT}

# MYSQL_HOME names a folder with a my.cnf; the others change ports, sockets and passwords of clients.
_FOREIGN = ("LC_", "LANG", "MYSQL_", "MARIADB_")

_NEUTRAL = {"LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}

# Where Debian's tools for disks are, which an ordinary user's PATH lacks.
_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


OWN = tuple(_NAMED)
"""mydyno's programs that other hosts need."""


def find_program(name: str) -> Path:
    """The program that its variable names, else next to Python, else on PATH. Raises MissingToolError."""
    variable = _NAMED[name]
    named = variable.read()
    if named:
        path = shutil.which(named)
        if not path:
            raise MissingToolError(
                f"{variable.name} names {named}, which is not a program",
                f"unset it, or give the path of {name}",
            )
        # Absolute: it is started in another folder.
        return Path(path).absolute()
    installed = Path(sys.executable).parent / name
    if installed.exists():
        return installed
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path).absolute()
    raise MissingToolError(
        f"{name} was not found (looked next to {sys.executable} and on PATH)",
        f"install mydyno again with `pip install .`, or name the binary in {variable.name}",
    )


def inherited_environment() -> dict[str, str]:
    """Ours without what would change a program's language or make a server read other settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    return {**inherited, **_NEUTRAL}


def bare_environment() -> dict[str, str]:
    """None of our variables but where programs are, for a host whose files may be others."""
    ours = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    return {"PATH": os.pathsep.join(dict.fromkeys([*ours, *_FOLDERS])), **_NEUTRAL}


def far_environment() -> dict[str, str]:
    """For another machine: where its programs usually are."""
    return {"PATH": os.pathsep.join(_FOLDERS), **_NEUTRAL}
