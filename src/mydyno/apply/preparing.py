"""From an advice to an application that could begin now: everything is read, nothing is changed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mydyno.apply.acts import LiveAct
from mydyno.apply.acts.plan import in_force_or_rounded, live_acts, present, waiting
from mydyno.apply.acts.server_values import server_session
from mydyno.apply.apply_context import AS_ROOT, ApplyContext
from mydyno.apply.change import Change, RemoveVariable, SetArray, SetQueue, SetUnit, SetVariable
from mydyno.apply.edits.option_file import is_written
from mydyno.apply.edits.texts import Texts, to_bytes
from mydyno.apply.edits.udev import Identity
from mydyno.apply.edits.unit import drop_in
from mydyno.apply.files.inside import inside
from mydyno.apply.files.plan import must_be_writable, read_file, replacing
from mydyno.apply.files.replace import ReplaceFile
from mydyno.apply.finding import Finding
from mydyno.apply.proposal import Proposal, Ways, propose
from mydyno.apply.reading import Running
from mydyno.apply.refusals import Room
from mydyno.core.beneath import names_below
from mydyno.core.errors import ApplyError, MissingToolError
from mydyno.machine.local import LocalHost
from mydyno.server.access.session import show_global
from mydyno.server.variables.row import same_meaning

_IDENTITIES = ("ID_SERIAL", "MD_UUID")
"""What udev knows of a disk, and of an array, that stays with it."""


@dataclass(frozen=True)
class Prepared:
    """All that `mydyno apply` shows and does."""

    proposal: Proposal
    files: tuple[ReplaceFile, ...]
    live: tuple[LiveAct, ...]
    contents: tuple[bytes, ...]
    """Of the files, before and after."""
    waiting: tuple[str, ...]
    """What is not in force and counts only after the server's next start, a sentence each."""

    @property
    def acts(self) -> tuple[ReplaceFile | LiveAct, ...]:
        return (*self.files, *self.live)


def prepare(
    findings: Sequence[Finding],
    context: ApplyContext,
    server: Running,
    insisted: Collection[str] = (),
    *,
    restart: bool = False,
) -> Prepared:
    """Raises ApplyError when something that must be read cannot be, or a file cannot be written."""
    root = context.root
    is_live = root == Path("/")
    texts = Texts(
        read=lambda path: read_file(root, path),
        names_in=lambda folder: _names(root, folder),
        real=lambda path: inside(root, path),
    )
    ways = Ways(server, _identities(findings), _room(server, context)) if is_live else Ways(server)
    proposal = propose(findings, texts, ways, lambda change: _now(change, context), insisted)
    files: list[ReplaceFile] = []
    contents: list[bytes] = []
    for path, (_, new) in proposal.texts.changed().items():
        act, bytes_of_it = replacing(root, path, to_bytes(new))
        must_be_writable(root, act)
        files.append(act)
        contents += bytes_of_it
    kept, rewritten = _kept(proposal, server), _rewritten(proposal)
    open_ones = [change for change in proposal.changes if not _settled(change, context, server, texts)]
    live = live_acts(open_ones, context, restart, kept, rewritten) if is_live else ()
    pending = [change for change in open_ones if not _in_force(change, context, rewritten)]
    return Prepared(proposal, tuple(files), live, tuple(contents), waiting(pending, live))


def _room(server: Running, context: ApplyContext) -> Room:
    """Of this machine, where the server is on it."""
    if server.reading is None:
        return Room()
    memory = LocalHost().facts(Path("/")).memory_bytes
    if context.login is None:
        return Room(memory)
    with server_session(context, "reading where its redo log lies") as cursor:
        now = show_global(cursor, "VARIABLES")
    folder = Path(now.get("datadir", "/"), now.get("innodb_log_group_home_dir", ""))
    free = LocalHost().facts(folder).free_disk_bytes if folder.is_dir() else None
    return Room(memory, None if free is None else free + _redo_bytes(now))


def _redo_bytes(variables: Mapping[str, str]) -> int:
    capacity = variables.get("innodb_redo_log_capacity")
    if capacity is not None:
        return int(capacity)
    files = int(variables.get("innodb_log_files_in_group", "1"))
    return files * int(variables.get("innodb_log_file_size", "0"))


def _kept(proposal: Proposal, server: Running) -> frozenset[str]:
    """The variables for which no option file is the place."""
    names = frozenset(change.name for change in proposal.changes if isinstance(change, SetVariable))
    return names if server.reading is None else names & server.reading.persisted


def _rewritten(proposal: Proposal) -> frozenset[str]:
    """The units whose drop-ins become others."""
    changed = proposal.texts.changed()
    units = (change.unit for change in proposal.changes if isinstance(change, SetUnit))
    return frozenset(unit for unit in units if drop_in(unit) in changed)


def _settled(change: Change, context: ApplyContext, server: Running, texts: Texts) -> bool:
    """Whether an option file has said it before and the server made its own of it: a pool is a multiple of
    its chunks, and asking again would bring the same."""
    return (
        isinstance(change, SetVariable)
        and context.login is not None
        and server.reading is not None
        and is_written(texts, change, server.reading)
        and in_force_or_rounded(change, context)
    )


def _in_force(change: Change, context: ApplyContext, rewritten: Collection[str]) -> bool:
    if not isinstance(change, SetVariable | SetUnit):
        return True
    now = _now(change, context)
    if now is None:  # Of some properties systemd shows none: those are as the drop-in has them.
        return isinstance(change, SetUnit) and change.unit not in rewritten
    return same_meaning(now, change.value)


def _now(change: Change, context: ApplyContext) -> str | None:
    of_server = isinstance(change, SetVariable | RemoveVariable)
    if context.root != Path("/") or (of_server and context.login is None):
        return None
    return present(change, context)


def _names(root: Path, folder: str) -> Sequence[str] | None:
    place = root / inside(root, folder)[1:]
    try:
        return names_below(root, place)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ApplyError(f"{place} cannot be read: {error.strerror}", AS_ROOT) from error


def _identities(findings: Sequence[Finding]) -> dict[str, Identity]:
    changes = (change for finding in findings for change in finding.changes)
    devices = {
        change.disk if isinstance(change, SetQueue) else change.array
        for change in changes
        if isinstance(change, SetQueue | SetArray)
    }
    return {device: identity for device in devices if (identity := _identity(device)) is not None}


def _identity(device: str) -> Identity | None:
    argv = ["udevadm", "info", "--query=property", f"--path=/sys/block/{device}"]
    try:
        output = LocalHost().run(argv).stdout
    except MissingToolError:
        return None
    properties = dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
    return next(((name, properties[name]) for name in _IDENTITIES if properties.get(name)), None)
