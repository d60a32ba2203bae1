"""Where mydyno keeps what it has changed of this system and must be able to restore."""

from __future__ import annotations

import os
from pathlib import Path

from mydyno.core import environment


def state_folder() -> Path:
    """root's in /var/lib, else in the user's own state; `MYDYNO_STATE` names another one."""
    own = environment.STATE.read()
    if own is not None:
        return Path(own).absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/mydyno")
    shared = Path(os.environ.get("XDG_STATE_HOME") or "")
    return (shared if shared.is_absolute() else Path.home() / ".local/state") / "mydyno"
