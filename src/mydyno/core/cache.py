"""Where what is dear to make and the same for every lab is kept: guest images, kernels, servers."""

from __future__ import annotations

import os
from pathlib import Path

from mydyno.core import environment
from mydyno.core.errors import LabError


def cache_folder(name: str) -> Path:
    """The folder `name` of mydyno's cache; it need not exist.

    $MYDYNO_CACHE, else what the XDG Base Directory Specification says: $XDG_CACHE_HOME when it is an
    absolute path, else ~/.cache.
    """
    own = environment.CACHE.read()
    if own is not None:
        return Path(own).absolute() / name
    shared = Path(os.environ.get("XDG_CACHE_HOME") or "")
    if not shared.is_absolute():
        shared = Path.home() / ".cache"
    return shared / "mydyno" / name


def full_cache(place: Path) -> LabError:
    """The error of a cache without room for what was to be put at `place`."""
    return LabError(
        f"{place} cannot be written: the disk is full",
        f"free some space there, or choose another cache with {environment.CACHE.name}",
    )
