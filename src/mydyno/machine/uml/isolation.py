"""The namespaces that a User-Mode Linux kernel runs in, so that a SIGKILL leaves none of its helpers."""

from __future__ import annotations

import os
from functools import cache

from mydyno.core.errors import MydynoError
from mydyno.machine.local import LocalHost

_NAMESPACES = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")


@cache
def isolation() -> tuple[str, ...]:
    """`unshare` with what this user may have; empty on a machine that allows none to an ordinary user.

    Without it a killed mydyno leaves helpers of the kernel behind, which the journal's undo ends.
    """
    user = () if os.geteuid() == 0 else ("--user", "--map-current-user")
    command = ("unshare", *user, *_NAMESPACES)
    try:
        return command if LocalHost().run([*command, "--", "true"]).returncode == 0 else ()
    except MydynoError:
        return ()
