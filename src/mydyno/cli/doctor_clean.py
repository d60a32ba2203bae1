"""`mydyno doctor --clean`: every place that mydyno uses on a machine, listed with its size and removed.

Only what mydyno keeps under its own names goes: the rest of a folder that $MYDYNO_CACHE or $MYDYNO_STATE
names stays, labs stay, and so does a journal that something can still be restored from.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import typer

from mydyno.cli import screen
from mydyno.core import environment
from mydyno.core.errors import ExitCode, LabError, UsageError
from mydyno.core.units import format_bytes

_CACHE_NAMES = {
    "images": "guest images and kernels for host: vm",
    "uml": "kernels for host: uml",
    "programs": "unpacked programs of packages",
    "servers": "releases of MySQL and MariaDB",
    "page": "scripts of report pages",
    "trial-times.jsonl": "how long trials took, for the estimates of plans",
}
_PROGRAMS = ("mydyno", "mydyno-engine", "mydyno-agent")


@dataclass(frozen=True)
class Place:
    """A file or folder of mydyno's."""

    path: Path
    use: str
    kept_because: str | None = None
    """Why it is not removed."""

    @property
    def size_bytes(self) -> int:
        from mydyno.machine.trees import size_of_tree

        if self.path.is_dir() and not self.path.is_symlink():
            return size_of_tree(self.path)
        return self.path.lstat().st_blocks * 512


def clean(lab: Path, *, yes: bool) -> None:
    """Lists every place and removes it after a question, which `yes` answers.

    Raises LabError while another mydyno works, UsageError without a terminal, typer.Exit with
    NOT_UNDONE when a journal had to stay.
    """
    places = list(_places())
    for place in places:
        screen.echo(f"{format_bytes(place.size_bytes):>10}  {place.path}  {place.use}")
        if place.kept_because is not None:
            screen.echo(f"{'':10}  stays: {place.kept_because}")
    removable = [place for place in places if place.kept_because is None]
    if not places:
        screen.echo("mydyno uses no place on this machine but its labs")
    if removable:
        _refuse_while_active(lab)
        if not yes:
            _ask(removable)
        _remove(removable)
    for line in _left_to_the_user(lab):
        screen.echo(line)
    if any(place.kept_because is not None for place in places):
        raise typer.Exit(ExitCode.NOT_UNDONE)


def _ask(places: list[Place]) -> None:
    if not sys.stdin.isatty():
        raise UsageError("nothing is removed without a confirmation, and there is no terminal", "add --yes")
    total = format_bytes(sum(place.size_bytes for place in places))
    screen.confirm(f"Remove {'these' if len(places) > 1 else 'this'} {total}?", abort=True)


def _remove(places: list[Place]) -> None:
    from mydyno.lab.stack.undo.mounts import MOUNT_ROOT, remove_unheld
    from mydyno.machine.cache_store import remove_tree

    for place in places:
        if place.path == MOUNT_ROOT:
            remove_unheld()
        elif place.path.is_dir():
            remove_tree(place.path)
        else:
            place.path.unlink(missing_ok=True)
        screen.echo(f"removed {place.path}")
    for folder in dict.fromkeys(place.path.parent for place in places):
        if folder.name == "mydyno":  # Not one that a variable names and that others may use.
            with suppress(OSError):
                folder.rmdir()


def _places() -> Iterator[Place]:
    from mydyno.lab.stack.undo.mounts import MOUNT_ROOT

    for folder in _cache_folders():
        for name, use in _CACHE_NAMES.items():
            yield from _place(folder / name, use)
    yield from _state()
    if os.geteuid() == 0:
        yield from _place(MOUNT_ROOT, "where runs mount disks, empty between runs")


def _place(path: Path, use: str, kept_because: str | None = None) -> Iterator[Place]:
    """Nothing where there is no such path. A link stays, and what it leads to."""
    if path.is_symlink():
        yield Place(path, use, f"it is a symbolic link to {path.readlink()}, which is not followed")
    elif path.exists():
        not_ours = path.lstat().st_uid != os.geteuid() and "it belongs to another user"
        yield Place(path, use, kept_because or not_ours or None)


def _cache_folders() -> list[Path]:
    """mydyno's cache, and where releases are when root's home is closed to the servers' user."""
    from mydyno.core.folders import cache_folder
    from mydyno.server.releases.store import servers_folder

    return list(dict.fromkeys((cache_folder("x").parent, servers_folder().parent)))


def _state() -> Iterator[Place]:
    from mydyno.apply.store.store import changes_folder
    from mydyno.lab.stack.undo.receipts import receipts_folder
    from mydyno.serve.access import key_file

    yield from _place(changes_folder(Path("/")), "journal of mydyno apply", _why_changes_stay())
    yield from _place(receipts_folder(), "receipts of labs' journals", _why_receipts_stay())
    yield from _place(key_file(), "key of the cookies of mydyno serve")


def _why_changes_stay() -> str | None:
    """Because an application is in force or unfinished: only the journal can restore what was before."""
    from mydyno.apply.store.store import Store, in_force

    store = Store.of_system(Path("/"))
    try:
        open_ones = [*store.unfinished(), *in_force(store.entries())]
    except LabError as error:
        return f"{error.message}, so what it would restore is unknown"
    if not open_ones:
        return None
    ids = ", ".join(dict.fromkeys(entry.application.id for entry in open_ones))
    return f"it restores what was before {ids}: mydyno rollback ID"


def _why_receipts_stay() -> str | None:
    from mydyno.lab.stack import outstanding_in
    from mydyno.lab.stack.undo.receipts import receipts_folder

    labs = set()
    with suppress(OSError):
        for receipt in receipts_folder().iterdir():
            lab, _, _ = receipt.read_bytes().partition(b"\n")
            labs.add(Path(os.fsdecode(lab)))
    if open_ones := sorted(str(lab) for lab in labs if lab.is_dir() and outstanding_in(lab)):
        return f"runs in {', '.join(open_ones)} left changes: mydyno cleanup --lab LAB"
    return None


def _refuse_while_active(lab: Path) -> None:
    """Raises LabError when another mydyno runs that uses the same places."""
    from mydyno.apply.store.store import Store
    from mydyno.lab.results.ownership import WriterLock

    others = [f"{pid}: {command}" for pid, command in _others()]
    if Store.of_system(Path("/")).is_held:
        others.append("a mydyno that changes this system")
    if others:
        raise LabError(f"another mydyno is running ({'; '.join(others)})", "run it again when that has ended")
    if (lab / "lock").exists():
        WriterLock(lab).close()


def _others() -> Iterator[tuple[int, str]]:
    """Processes of mydyno, but for this one and those that started it, with the same cache or state."""
    own = _ancestors()
    variables = (environment.CACHE.name, environment.STATE.name, "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME")
    here = [os.environ.get(name) for name in variables]
    for folder in Path("/proc").glob("[0-9]*"):
        if int(folder.name) in own:
            continue
        with suppress(OSError):
            words = [os.fsdecode(word) for word in (folder / "cmdline").read_bytes().split(b"\0")]
            if not any(Path(word).name in _PROGRAMS for word in words[:2]):
                continue
            pairs = (
                os.fsdecode(pair).partition("=") for pair in (folder / "environ").read_bytes().split(b"\0")
            )
            values = {name: value for name, _, value in pairs}
            if [values.get(name) for name in variables] == here:
                yield int(folder.name), " ".join(words).strip()


def _ancestors() -> set[int]:
    ancestors = {os.getpid()}
    pid = os.getppid()
    while pid > 0 and pid not in ancestors:
        ancestors.add(pid)
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            break
        pid = int(status.rpartition(")")[2].split()[1])
    return ancestors


def _left_to_the_user(lab: Path) -> Iterator[str]:
    """What only the user can remove, and how."""
    from mydyno.lab.stack.undo import PRIVATE_NAME
    from mydyno.machine.trees import size_of_tree

    yield ""
    yield "Left for you to remove:"
    if lab.is_dir():
        yield f"  the lab {lab} ({format_bytes(size_of_tree(lab))}), and other labs: rm -r {lab}"
    for parent in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):
        for folder in Path(parent).glob("mydyno-*"):
            if PRIVATE_NAME.fullmatch(folder.name) and folder.lstat().st_uid == os.geteuid():
                yield f"  {folder}, which a run uses or has left: mydyno cleanup --lab LAB"
    yield (
        "  on each server that mydyno load or an experiment with server.external used, its schema, mydyno "
        "unless --database or the experiment named another: DROP DATABASE mydyno"
    )
    for of_root in ("/var/lib/mydyno", "/var/cache/mydyno"):
        if os.geteuid() != 0 and Path(of_root).exists():
            yield f"  {of_root}, which root's mydyno uses: sudo mydyno doctor --clean"
    for script in _completion_scripts():
        yield f"  the completion script {script}, and the line of your shell's start file that reads it"
    yield "  the program: pip uninstall mydyno"


def _completion_scripts() -> Iterator[Path]:
    for name in (".bash_completions/mydyno.sh", ".zfunc/_mydyno", ".config/fish/completions/mydyno.fish"):
        if (script := Path.home() / name).exists():
            yield script
