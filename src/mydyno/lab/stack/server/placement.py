"""Do the files of a running server lie on the volumes that the setup has for them?"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from mydyno.core.errors import ServerError
from mydyno.core.server_files import FileKind
from mydyno.lab.stack.server.sandbox import RunningServer
from mydyno.server.program.file_places import KINDS, Place
from mydyno.server.variables.settings import settings_difference

_NO_FILES = ("/memfd:", "/dev/", "/SYSV", "/[")
"""What the kernel shows as an open file and is none: memory, devices, asynchronous I/O."""


@dataclass(frozen=True)
class Placement:
    """Where the kinds of files lie that have a separate volume."""

    held: tuple[FileKind, ...]
    """Those whose open files all lie there."""
    wrong: tuple[str, ...]
    """A sentence for each that does not, and for each variable that says another place."""


def read_placement(
    server: RunningServer, places: Mapping[FileKind, Place], in_force: Mapping[str, str]
) -> Placement:
    """Asks the server's variables, and the kernel for its open files. Raises ServerError when that fails."""
    expected = {
        name: place for name, place in places.items() if name != "binary log" or in_force["log_bin"] == "ON"
    }
    if not expected:
        return Placement((), ())
    differences = [str(each) for each in settings_difference(server.places, in_force)]
    opened = _open_files(server)
    wrong = {name: tuple(misplaced(name, place, opened)) for name, place in expected.items()}
    return Placement(
        held=tuple(name for name, sentences in wrong.items() if not sentences),
        wrong=(*differences, *(sentence for sentences in wrong.values() for sentence in sentences)),
    )


def misplaced(name: FileKind, place: Place, opened: Sequence[str]) -> Iterator[str]:
    """What is wrong with the files of this kind among the paths that a server holds open."""
    (pattern,) = (kind.opened for kind in KINDS if kind.name == name)
    files = [path for path in opened if re.fullmatch(pattern, path.rpartition("/")[2])]
    elsewhere = [path for path in files if not PurePosixPath(path).is_relative_to(place.folder)]
    if not files:
        yield f"{name}: the server has none of its files open, and they should be in {place.folder}"
    elif elsewhere:
        yield f"{name}: {elsewhere[0]} is open, and should be in {place.folder}"


def _open_files(server: RunningServer) -> list[str]:
    """As the server's own user, who may always look; root in a container may not."""
    argv = ["find", f"/proc/{server.pid}/fd", "-type", "l", "-printf", "%l\\n"]
    done = server.host.run(argv, identity=server.host.server_identity)
    paths = [line for line in done.stdout.splitlines() if line.startswith("/")]
    if not paths:
        raise ServerError(f"the open files of the server cannot be seen: {done.stderr.strip()}")
    return [path for path in paths if not path.startswith(_NO_FILES)]
