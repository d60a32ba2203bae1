"""Who owns the data directory, and who else may read it.

Files that do not belong to the server's user cannot be written: copied as root without an owner, they stop
the server at its next start or at the first table that it opens. World-readable files give every account of
the machine, and every compromised program, all tables without a password. Old guides end a move of the data
with `chmod -R 755`, which does exactly that. MySQL and MariaDB make their files 0640 or 0660.

A world-readable folder with protected files reveals only names; on some systems clients find the socket in
it, so it is left as it is.
"""

import shlex

from mydyno.advisor.rules import *

_ENTER, _WRITE, _READ = 0o001, 0o002, 0o004
"""For others than owner and group."""


@Rule(
    checks="owner and permissions of the data directory and of a file in it",
    why="Files of another owner cannot be written, and world-readable files can be read without a password.",
    expected="the server can write its files, and other accounts cannot read them; no effect on speed",
    risk="a backup that reads the files under another account needs the server's group",
    sources=(
        "MySQL Reference Manual, Making MySQL Secure Against Attackers; Initializing the Data Directory",
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: chmod -R 755",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    host = system.host
    data = next((use for use in host.storage.uses if use.files == "data"), None) if host else None
    if host is None or data is None or (data.owner is None and data.mode is None):
        return Unknown("owner and rights of the data directory")
    user = host.process.user if host.process else None
    foreign = user is not None and data.owner is not None and user not in (data.owner, "root")
    entered = bool((data.mode or 0) & _ENTER)
    writable = bool((data.mode or 0) & _WRITE) or (entered and bool((data.file_mode or 0) & _WRITE))
    readable = entered and bool((data.file_mode or 0) & _READ)
    numbers = _numbers(data, user)
    if not (foreign or writable or readable):
        return Fine(numbers)
    path = shlex.quote(data.path)
    owner = user if foreign else None
    return finding(
        title=_title(data, user, foreign, writable),
        evidence=(f"{data.path}: {numbers}",),
        recommendation="make the server's user the owner, without access for others",
        changes=by_hand(
            "set owner and permissions of the files; the socket stays accessible to clients",
            *((f"chown --recursive {shlex.quote(owner)}: {path}",) if owner else ()),
            *((f"chmod o-w {path}",) if writable else ()),
            f"find {path} -mindepth 1 ! -type s -exec chmod o-rwx {{}} +",
        ),
        severity=Severity.CRITICAL if writable else Severity.HIGH,
        effect=better("safety", "large"),
    )


def _title(data: Use, user: str | None, foreign: bool, writable: bool) -> str:
    if writable:
        return "Every account of the machine may write to the data directory"
    if foreign:
        return f"The data directory belongs to {data.owner}, the server runs as {user}"
    return "Every account of the machine may read the tables"


def _numbers(data: Use, user: str | None) -> str:
    parts = [f"it belongs to {data.owner}" if data.owner else "its owner is not known"]
    parts += [f"the server runs as {user}"] if user else []
    parts += [f"permissions {data.mode:04o}"] if data.mode is not None else []
    parts += [f"the system tablespace {data.file_mode:04o}"] if data.file_mode is not None else []
    return ", ".join(parts)
