"""Another machine over the system's OpenSSH, with the user's configuration and known hosts.

Host keys are checked as that configuration says, and no password is accepted (BatchMode).
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path

from mydyno.core.errors import HostError, UsageError
from mydyno.machine.hosts.entry import HostEntry

_CONNECT_SECONDS = 10
_ALONE = (
    *("-a", "-x", "-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no"),
    # A connection that others share would stay in the background after mydyno's end.
    *("-o", "ControlMaster=no", "-o", "RemoteCommand=none"),
)
"""Nothing but the one stream, whatever the configuration forwards."""

QUESTION_SECONDS = 10
"""Between questions of ssh, three of which without an answer end a connection whose network was cut."""

_WHY = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "it has another host key than the known one",
        "is it the same machine? ask its administrator for the fingerprint; `ssh-keygen -R NAME` removes the "
        "old key",
    ),
    (
        "Host key verification failed",
        "its host key is unknown",
        "`ssh {target}` in a terminal shows the fingerprint: compare it, and accept it once",
    ),
    (
        "Permission denied",
        "it refuses your key",
        "`ssh -o BatchMode=yes {target} true` must work: add your public key to ~/.ssh/authorized_keys there",
    ),
    (
        "Could not resolve hostname",
        "unknown host",
        "a name that DNS or ~/.ssh/config knows",
    ),
    (
        "Connection refused|Connection timed out|No route to host|Network is unreachable",
        "it cannot be reached",
        "is it running, and is its sshd at this port?",
    ),
)
"""What ssh says, what that means, and how to fix it."""


def ssh_command(target: str, port: int | None = None, options: Sequence[str] = ()) -> list[str]:
    """ssh(1) up to the command to run there; it never asks a question."""
    words = f"ssh -T -o BatchMode=yes -o ConnectTimeout={_CONNECT_SECONDS}".split()
    return [*words, *(("-p", str(port)) if port else ()), *options, "--", target]


def ssh_error(target: str, errors: str) -> HostError:
    """Why ssh has ended, in its own words, with what to do."""
    lines = errors.strip().splitlines()
    last = lines[-1].strip() if lines else "the connection ended"
    for pattern, meaning, hint in _WHY:
        if re.search(pattern, errors):
            return HostError(f"ssh to {target}: {meaning}: {last}", hint.format(target=target))
    hint = f"`ssh -o BatchMode=yes {target} true` must work without a question"
    return HostError(f"ssh to {target}: {last}", hint)


def _refuse_others(config: Path) -> None:
    """It can start commands (ProxyCommand). Raises UsageError where another user could have written it."""
    try:
        about = config.stat()
    except OSError as error:
        raise UsageError(f"the configuration of ssh {config} cannot be read: {error.strerror}") from error
    if about.st_uid not in (os.geteuid(), 0) or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UsageError(
            f"the configuration of ssh {config} could have been written by another user: it is not used",
            f"chown it to this user or root and chmod 600 {config}",
        )


class SshLauncher:
    def __init__(self, entry: HostEntry) -> None:
        self._target = entry.destination
        if entry.config is not None:
            _refuse_others(entry.config)
        self._config = ("-F", str(entry.config)) if entry.config is not None else ()

    @property
    def address(self) -> str:
        return f"ssh:{self._target}"

    def command(self, line: str) -> list[str]:
        # The user's shell there may be any; none of them does anything in single quotes.
        far_shell = shlex.join(["exec", "env", "LC_ALL=C", "sh", "-c", line])
        ends = f"-o ServerAliveInterval={QUESTION_SECONDS} -o ServerAliveCountMax=3".split()
        return [*ssh_command(self._target, options=(*self._config, *_ALONE, *ends)), far_shell]

    def explained(self, errors: str) -> HostError:
        return ssh_error(self._target, errors)

    def give_up(self) -> None:
        """sshd there ends the session when the connection ends."""

    def limit(self, seconds: float) -> None:
        """A machine has no limit."""
