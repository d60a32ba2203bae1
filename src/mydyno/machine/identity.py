"""The user that servers run as, and the command line that makes it so.

A server refuses to run as root, and should: mydyno run by root hands it to `nobody`. Whatever user runs it,
the server dies with mydyno: setpriv asks the kernel for SIGKILL at the parent's death (PR_SET_PDEATHSIG,
which a change of user would clear, so setpriv sets it after that change).
"""

import os
import pwd
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.core.errors import MissingToolError

UNPRIVILEGED_USER = "nobody"

# The kernel says nothing when the parent was already dead as PDEATHSIG was set, so the started
# shell looks once whether its parent is still mydyno before it becomes the program.
_STILL_OUR_CHILD = 'test "$PPID" -eq "$0" && exec "$@"'


@dataclass(frozen=True)
class Identity:
    """A user of the machine."""

    name: str
    uid: int
    gid: int


def server_identity() -> Identity | None:
    """`nobody` when mydyno runs as root, else None: the server runs as mydyno's own user."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(UNPRIVILEGED_USER)
    except KeyError as error:
        raise MissingToolError(
            f"this machine has no user {UNPRIVILEGED_USER!r} to run servers as",
            f"run mydyno as an ordinary user, or create the user {UNPRIVILEGED_USER!r}",
        ) from error
    return Identity(entry.pw_name, entry.pw_uid, entry.pw_gid)


def guest_identity() -> Identity:
    """The user that servers in a guest run as: the one whom files of servers on this machine belong to."""
    return server_identity() or _own_identity()


def _own_identity() -> Identity:
    uid, gid = os.geteuid(), os.getegid()
    try:
        return Identity(pwd.getpwuid(uid).pw_name, uid, gid)
    except KeyError:
        return Identity(str(uid), uid, gid)


def tied_to_parent(argv: Sequence[str], identity: Identity | None, parent_pid: int) -> list[str]:
    """`argv` run as `identity`, killed by the kernel when the thread that started it ends.

    A program that has file capabilities (`setcap`) loses the tie when it is executed, as
    prctl(2) says; the undo journal is what ends such a server.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise MissingToolError("setpriv was not found in PATH", "install it: apt-get install util-linux")
    shell = ["/bin/sh", "-c", _STILL_OUR_CHILD, str(parent_pid)]
    return [setpriv, *becoming(identity), *shell, *argv]


def becoming(identity: Identity | None) -> list[str]:
    """Arguments of setpriv(1), before the command: the change of user, and then the tie to the parent."""
    drop = [f"--reuid={identity.uid}", f"--regid={identity.gid}", "--clear-groups"] if identity else []
    return [*drop, "--pdeathsig", "KILL", "--"]
