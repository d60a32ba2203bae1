"""The way from the name of a release, or from a path, to the binary under test."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from mydyno.core import environment
from mydyno.core.errors import MissingToolError, MydynoError, UsageError
from mydyno.core.nearest import nearest, unknown
from mydyno.core.server_release import SYSTEM
from mydyno.core.server_version import parse_version
from mydyno.machine.images import RootImage
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Host
from mydyno.server.program.binary import (
    SERVER_NAMES,
    ServerBinary,
    find_binary,
    inspect_binary,
    parse_options,
    search_folders,
)
from mydyno.server.releases.known import KNOWN, known_release
from mydyno.server.releases.store import Installed, ReleaseStore


def binary_of(release: str = SYSTEM, path: str | None = None, host: Host | None = None) -> ServerBinary:
    """The binary at `path`, or that of the release; run on `host` (default: this machine) for its options.

    Raises MissingToolError when it is not installed, UsageError for an unknown release,
    ServerError when it is not a server or does not run.
    """
    host = host or LocalHost()
    if path is not None or release == SYSTEM:
        return inspect_binary(host, find_binary(Path(path) if path else None))
    installed = ReleaseStore().installed(release)
    if installed is not None:
        return binary_of_installed(installed, host)
    if (known := known_release(release)) is not None:
        raise MissingToolError(
            f"the release {release} ({known.version}) is not installed",
            f"install it: mydyno servers add {release}",
        )
    raise UsageError(
        unknown("server release", release, nearest_release(release)),
        "`mydyno servers list` shows what there is; `mydyno servers add NAME --from DIR` adds your own build",
    )


def binary_of_installed(installed: Installed, host: Host) -> ServerBinary:
    """The binary of a release that is here. Raises MissingToolError, ServerError."""
    root, program = installed.root, installed.binary
    try:
        if root is None:
            binary = inspect_binary(host, find_binary(program))
        else:
            find_binary(root / program.relative_to("/"))
            binary = inspect_binary(host, program, root)
        return replace(binary, folder=installed.home)
    except MydynoError as error:
        error.message = f"release {installed.name}: {error.message}"
        raise


def is_known_server(path: Path) -> bool:
    """Whether `path` is a server of this machine, of PATH or of mydyno's releases, so that a file of another
    user may name it.

    Links are followed: what counts is where the program lies. Another program is none, wherever it lies.
    """
    program = path.resolve()
    if not program.name.startswith(SERVER_NAMES):
        return False
    if (chosen := environment.SERVER.read()) and program == Path(chosen).resolve():
        return True
    store = ReleaseStore()
    folders = [*search_folders(), Path("/usr"), store.folder, *(each.home for each in store.all())]
    return any(program.is_relative_to(folder.resolve()) for folder in folders if folder.is_absolute())


def not_installed(releases: Iterable[str]) -> tuple[str, ...]:
    """Those of `releases` that can be had and are not here, each once."""
    store = ReleaseStore()
    return tuple(
        name for name in dict.fromkeys(releases) if known_release(name) and not store.installed(name)
    )


def is_release(name: str) -> bool:
    """Whether there is a release of that name, here or to be had."""
    return name == SYSTEM or known_release(name) is not None or ReleaseStore().installed(name) is not None


def nearest_release(name: str) -> str | None:
    """The release that was probably meant."""
    names = [SYSTEM, *KNOWN, *ReleaseStore().names()]
    holding = [each for each in names if name.lower() in each.lower()]
    return nearest(name, names) or next(iter(holding), None)


def binary_of_image(root: RootImage) -> ServerBinary:
    """Where it is in the guest, its release and its options, from what it said when the image was built."""
    path = Path(root.manifest.server.split()[0])
    return ServerBinary(path, parse_version(root.manifest.server), parse_options(root.server_help()))
