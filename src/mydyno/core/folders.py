"""The folders outside the lab.

The cache: what is dear to make and the same for every lab (guest images, kernels, servers). The state: what
mydyno has changed of this system and must be able to restore.
"""

import os
from pathlib import Path

from mydyno.core import environment
from mydyno.core.errors import LabError


def cache_folder(name: str) -> Path:
    """The folder `name` of mydyno's cache, in $MYDYNO_CACHE, else the user's own; it need not exist."""
    own = environment.CACHE.read()
    return (Path(own).absolute() if own else _of_user("XDG_CACHE_HOME", ".cache")) / name


def full_cache(place: Path) -> LabError:
    """The error of a cache without room for what was to be put at `place`."""
    return LabError(
        f"{place} cannot be written: the disk is full",
        f"free some space there, or choose another cache with {environment.CACHE.name}",
    )


def state_folder() -> Path:
    """root's in /var/lib, else in the user's own state; `MYDYNO_STATE` names another one."""
    own = environment.STATE.read()
    if own is not None:
        return Path(own).absolute()
    return Path("/var/lib/mydyno") if os.geteuid() == 0 else _of_user("XDG_STATE_HOME", ".local/state")


def _of_user(variable: str, usual: str) -> Path:
    """The XDG Base Directory Specification takes absolute paths only."""
    shared = Path(os.environ.get(variable) or "")
    return (shared if shared.is_absolute() else Path.home() / usual) / "mydyno"
