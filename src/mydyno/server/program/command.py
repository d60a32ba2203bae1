"""The command line that becomes a server program: in its private root, under limits, as the servers' user.

Every program of a binary is started by what this makes, so that it prints its options, fills a data
directory and serves in the same surroundings. The process that is started is the program in the end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.errors import LabError
from mydyno.machine import process_limits as os_limits
from mydyno.machine.identity import Identity
from mydyno.machine.process_limits import Limits
from mydyno.machine.protocol import Host
from mydyno.machine.supervised import AGENT

_COVERED = ("/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64")
"""Folders of the machine that those of a private root stand in for (docs/reference/private-roots.md)."""


@dataclass(frozen=True)
class Command:
    """What to give to a host: the words, and whom it has to run them as (None: as mydyno's own user)."""

    argv: tuple[str, ...]
    identity: Identity | None


def server_command(
    host: Host, program: Path, arguments: Sequence[str], *, root: Path | None, limits: Limits | None = None
) -> Command:
    """`program` with its arguments as the user that servers run as on `host`.

    `root` None: among the machine's own files; else `program` is a path inside that private root. Raises
    MissingToolError where mydyno's agent is missing, which enters the root.
    """
    identity = host.server_identity
    argv: list[str] = [str(program), *arguments]
    if root is not None:
        # Covering the machine's folders needs the rights that the change of user takes.
        user = [] if identity is None else ["--user", f"{identity.uid}:{identity.gid}"]
        argv = [str(host.program(AGENT)), "within", str(root), *user, "--", *argv]
        identity = None
    if limits is not None:
        argv = os_limits.wrap(argv, limits, identity)
        identity = None
    return Command(tuple(argv), identity)


def refuse_covered(root: Path | None, places: Iterable[Path]) -> None:
    """A server in `root` would not find files of ours that lie below what its own stand in for.

    Raises LabError.
    """
    for place in places if root is not None else ():
        covered = next((each for each in _COVERED if place.resolve().is_relative_to(each)), None)
        if covered is not None:
            raise LabError(
                f"{place} lies below {covered}, where a server of the private root {root} sees its own files",
                "choose another place for the lab with --lab, and a temporary folder elsewhere (TMPDIR)",
            )
