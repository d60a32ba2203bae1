"""mydyno's programs on another machine: copied once for each version, by checksum, into a private folder.

    FOLDER/programs/SHA256/mydyno-agent     0700, of the user there; checked before every use
    FOLDER/trials/mydyno-3f0c5a91b2d4       one session's data, which goes with it (crates/agent, session.rs)

The machine needs a shell, coreutils and the processor of this one; nothing is installed into its system.
"""

from __future__ import annotations

import hashlib
import platform
import re
import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mydyno.core.errors import HostError
from mydyno.machine.hosts.entry import HostEntry
from mydyno.machine.hosts.launcher import Launcher
from mydyno.machine.local import launch
from mydyno.machine.programs import OWN, find_program

_COPY_SECONDS = 600.0

SILENCE_SECONDS = 60
"""How long the agent of a session goes on without hearing of mydyno: a network that was cut says nothing."""

TRIALS = "trials"
"""The folder of sessions, below mydyno's own."""

MISSING = "programs"
"""The note of a machine that has not all programs, or damaged ones."""
MOUNTS = "mounts"
"""The note of a machine on which the session has a private mount namespace."""
_NOTE = re.compile(r"^mydyno: (\w+)(?: (.*))?\n", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """One of mydyno's own programs as this machine has it."""

    name: str
    file: Path

    @cached_property
    def checksum(self) -> str:
        with self.file.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def place(self) -> str:
        """Below FOLDER/programs."""
        return f"{self.checksum}/{self.name}"


def own_programs() -> tuple[Program, ...]:
    """Raises MissingToolError."""
    return tuple(Program(name, find_program(name)) for name in OWN)


def notes(errors: str) -> dict[str, str]:
    """What the lines of shell below have noted on standard error: `folder` -> its path."""
    return {note[1]: note[2] or "" for note in _NOTE.finditer(errors)}


def without_notes(errors: str) -> str:
    return _NOTE.sub("", errors).strip()


def serve_line(entry: HostEntry, programs: tuple[Program, ...], session: str | None) -> str:
    """The line that becomes the agent, with a session of that name, or none."""
    sums = shlex.join(word for each in programs for word in (each.checksum, each.place))
    (agent,) = (each for each in programs if each.name == "mydyno-agent")
    mark = f' --session "$d/{TRIALS}/{session}" --silence {SILENCE_SECONDS}' if session else ""
    return "; ".join(
        [
            *_mounts_of(session),
            *_folder_there(entry),
            f"cd \"$d/programs\" && printf '%s  %s\\n' {sums} | sha256sum -c --status - 2>/dev/null"
            f" || {{ {_note(MISSING)}; exit 93; }}",
            f'exec $private "$d/programs/{agent.place}" serve{mark}',
        ]
    )


def _mounts_of(session: str | None) -> list[str]:
    """What a session of root mounts goes with its agent, however that ends. Noted before the folder is, so
    that it is known once the folder is."""
    if session is None:
        return ["private="]
    return [
        'private="unshare --mount --propagation private"',
        f"if [ $(id -u) = 0 ] && $private true 2>/dev/null; then {_note(MOUNTS)}; else private=; fi",
    ]


def copy(launcher: Launcher, entry: HostEntry, programs: tuple[Program, ...]) -> None:
    """Copies the programs that are missing there. Raises HostError: no space, no right, another processor."""
    for program in programs:
        part = f"{program.checksum}/.copy-$$"
        line = "; ".join(
            [
                *_folder_there(entry),
                f'cd "$d/programs" && mkdir -p {program.checksum} && cat > {part}'
                f" && printf '%s  %s\\n' {program.checksum} {part} | sha256sum -c --status -"
                f" && chmod 700 {part} && mv -f {part} {program.place}"
                f" || {{ rm -f {part}; {_note('copy')}; exit 94; }}",
            ]
        )
        with program.file.open("rb") as content, tempfile.TemporaryFile() as errors:
            child = launch(
                launcher.command(line), None, stdin=content.fileno(), stdout=subprocess.DEVNULL, stderr=errors
            )
            try:
                code = child.wait(_COPY_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                code = None
            errors.seek(0)
            if code != 0:
                raise refusal(launcher, errors.read().decode(errors="replace"))


def refusal(launcher: Launcher, errors: str) -> HostError:
    """Why a line of shell did not do its work there."""
    noted, text = notes(errors), without_notes(errors)
    last = text.splitlines()[-1] if text else ""
    folder = noted.get("folder", "its folder")
    if "machine" in noted:
        return HostError(
            f"{launcher.address} is {noted['machine']}, and this machine's programs are for {_machine()}",
            "run mydyno on a machine with the same processor",
        )
    if "private" in noted:
        return HostError(
            f"{launcher.address}: {noted['private']} cannot be a private folder of the user there: {last}",
            "set `folder` in hosts.yaml to a folder that this user can make",
        )
    if "copy" in noted:
        hint = "free some space there, or set `folder` in hosts.yaml to another disk"
        return HostError(
            f"{launcher.address}: mydyno's programs could not be copied to {folder}: "
            f"{last or 'they are damaged'}",
            hint if "No space" in text or "quota" in text else None,
        )
    if "another run of mydyno" in text:
        return HostError(
            f"{launcher.address}: another run of mydyno uses this host",
            "wait for its end, or use another host",
        )
    if "folder" in noted:
        return HostError(f"{launcher.address}: the agent ended: {last or 'without a message'}")
    return launcher.explained(errors)


def _folder_there(entry: HostEntry) -> list[str]:
    """Checks the machine, and makes the folder $d with its own two in it; $d is noted.

    A server that root starts is another user's, who has to pass through to its data.
    """
    machine = _machine()
    own = '"${XDG_CACHE_HOME:-$HOME/.cache}/mydyno/agent"'
    # Homes of a cluster are mostly on a file system that its nodes share.
    usual = '"/var/tmp/mydyno-$(id -u)-$SLURMD_NODENAME"' if entry.launcher == "slurm" else "$u"
    place = shlex.quote(str(entry.folder)) if entry.folder is not None else usual
    return [
        f'case "$(uname -sm)" in "{machine}") ;; *) {_note("machine", "$(uname -sm)")}; exit 91 ;; esac',
        f"if [ $(id -u) = 0 ]; then umask 066; u=/var/cache/mydyno/agent; else umask 077; u={own}; fi",
        f'd={place}; mkdir -p "$d/programs" "$d/{TRIALS}" && [ -O "$d/programs" ] && [ -O "$d/{TRIALS}" ]'
        f' && chmod 700 "$d/programs" || {{ {_note("private", "$d")}; exit 92; }}',
        _note("folder", "$d"),
    ]


def _note(kind: str, text: str = "") -> str:
    return f'echo "mydyno: {kind}{" " + text if text else ""}" >&2'


def _machine() -> str:
    """As uname -sm prints it."""
    return f"{platform.system()} {platform.machine()}"
