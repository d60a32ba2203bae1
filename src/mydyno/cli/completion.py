"""What the shell completes beyond options and files: runs, experiments, releases, rules, metrics, workloads.

A callback may be called at every key, so it reads names from folders and from the lab's database, and imports
nothing that takes long. What cannot be read completes to nothing: an error would end up in the command line.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import typer

from mydyno.cli import experiment_files as shipped_files

_PACKAGE = Path(__file__).parents[1]

Completion = Callable[[typer.Context, str], list[str]]


def _quietly(names: Callable[[typer.Context], Iterable[str]]) -> Completion:
    """The names that begin with what was typed, after a list's last comma; none when they cannot be read."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        listed, comma, begun = incomplete.rpartition(",")
        try:
            return [f"{listed}{comma}{name}" for name in names(ctx) if name.startswith(begun)]
        except Exception:
            return []

    return complete


@_quietly
def runs(ctx: typer.Context) -> Iterable[str]:
    """Experiments of the lab and their runs, the newest first."""
    lab = next(one.name for one in ctx.command.params if "--lab" in one.opts)
    database = Path(ctx.params[lab or ""]).absolute() / "lab.sqlite"
    connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=0.2)
    try:
        rows = connection.execute("SELECT experiment, folder FROM runs ORDER BY run_id DESC").fetchall()
    finally:
        connection.close()
    return dict.fromkeys([row[0] for row in rows] + [row[1] for row in rows])


@_quietly
def rules(_: typer.Context) -> Iterable[str]:
    """A rule's file has its name."""
    files = (_PACKAGE / "advisor" / "rules").glob("*/[!_]*.py")
    return sorted(path.stem.replace("_", "-") for path in files)


@_quietly
def known_releases(_: typer.Context) -> Iterable[str]:
    """Releases that can be installed by their name."""
    from mydyno.server.releases.known import KNOWN

    return KNOWN


@_quietly
def installed_releases(_: typer.Context) -> Iterable[str]:
    from mydyno.server.releases.store import ReleaseStore

    return ReleaseStore().names()


@_quietly
def releases(_: typer.Context) -> Iterable[str]:
    """Every release that an experiment may name."""
    from mydyno.core.server_release import SYSTEM
    from mydyno.server.releases.known import KNOWN
    from mydyno.server.releases.store import ReleaseStore

    return dict.fromkeys((SYSTEM, *KNOWN, *ReleaseStore().names()))


@_quietly
def metrics(_: typer.Context) -> Iterable[str]:
    from mydyno.lab.analysis import metrics as known

    return dict.fromkeys(metric.name for metric in (*known.OF_QUERIES, *known.OF_IOS))


@_quietly
def workloads(_: typer.Context) -> Iterator[str]:
    """The built-in ones: a workload's file has its name."""
    return (path.stem for path in sorted((_PACKAGE / "lab" / "workload" / "builtin").glob("*.yaml")))


@_quietly
def experiment_files(_: typer.Context) -> Iterator[str]:
    """Experiments that come with mydyno by their names, then the YAML files here.

    For a path into another folder there is none, and the shell completes it by itself.
    """
    yield from shipped_files.shipped()
    yield from (str(path) for path in sorted(Path().glob("*.y*ml")))
