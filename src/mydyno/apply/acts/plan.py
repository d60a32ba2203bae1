"""Which acts bring changes about now, each with the value that it finds."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from mydyno.apply import change as kinds
from mydyno.apply.acts import LiveAct, ReadUnit, RestartServer, SetGlobals, WriteKernelFile
from mydyno.apply.acts.global_variables import setting_globals
from mydyno.apply.acts.kernel_file import read_kernel_file
from mydyno.apply.acts.persisted_variables import persisting
from mydyno.apply.acts.read_unit import reading_unit, same_line
from mydyno.apply.acts.remount import mounted, remounting
from mydyno.apply.acts.restart import restarting
from mydyno.apply.acts.server_values import server_session, state_between
from mydyno.apply.acts.systemd import properties
from mydyno.apply.apply_context import ApplyContext
from mydyno.server.access.session import show_global
from mydyno.server.variables.settings import settings_difference


def live_acts(
    changes: Sequence[kinds.Change],
    context: ApplyContext,
    restart: bool,
    kept: Collection[str] = (),
    rewritten: Collection[str] = (),
) -> tuple[LiveAct, ...]:
    """The acts in the order in which they are to be done, after all files have been replaced.

    What is in force already needs none. `restart`: whether the server may be restarted for what nothing else
    brings. `kept`: variables that the server is to keep by itself, since its option files are out of reach or
    lose against what it keeps already. `rewritten`: units whose drop-in becomes another, which systemd has
    to read even where `systemctl show` has none of it. Raises ApplyError when a present value cannot be read.
    """
    variables = [change for change in changes if isinstance(change, kinds.SetVariable)]
    keeps = {change.name: change.value for change in variables if change.name in kept}
    return tuple(_acts(changes, _not_in_force(variables, context), context, restart, keeps, rewritten))


def waiting(changes: Sequence[kinds.Change], acts: Sequence[LiveAct]) -> tuple[str, ...]:
    """What counts only after the server's next start when these acts are done, a sentence each."""
    if any(isinstance(act, RestartServer) for act in acts):
        return ()
    set_now = {name for act in acts if isinstance(act, SetGlobals) for name in act.after}
    return tuple(
        change.sentence()
        for change in changes
        if isinstance(change, kinds.SetUnit)
        or (isinstance(change, kinds.SetVariable) and (change.restart or change.name not in set_now))
    )


def present(change: kinds.Change, context: ApplyContext) -> str | None:
    """The value in force now, as the change's `was` writes it; None: it cannot be read from here."""
    match change:
        case kinds.SetVariable() if context.login is not None:
            with server_session(context, f"reading {change.name}") as cursor:
                return show_global(cursor, "VARIABLES").get(change.name)
        case kinds.SetMountOptions():
            return ",".join(mounted(change.mount_point).options)
        case kinds.SetUnit():
            now = properties(change.unit, (change.name,)).get(change.name)
            return change.value if now is not None and same_line(now, change.value) else now
        case _:
            path = change.kernel_file
            return None if path is None else read_kernel_file(context.place(path))


def in_force_or_rounded(change: kinds.SetVariable, context: ApplyContext) -> bool:
    """Whether the server has the value, or one that it makes of it by a rule that is known."""
    with server_session(context, f"reading {change.name}") as cursor:
        return (
            state_between({}, {change.name: change.value}, show_global(cursor, "VARIABLES")).state == "after"
        )


def _acts(
    changes: Sequence[kinds.Change],
    variables: Sequence[kinds.SetVariable],
    context: ApplyContext,
    restart: bool,
    keeps: Mapping[str, str],
    rewritten: Collection[str],
) -> Iterator[LiveAct]:
    """`variables`: those that are not in force."""
    yield from filter(None, (_of_the_kernel(change, context) for change in joined_mounts(changes)))
    units = [act for act in _units(changes) if act.unit in rewritten or act.look(context).state == "before"]
    yield from units
    at_start = {change.name: change.value for change in variables if change.restart}
    if context.login is not None and keeps:
        persists = persisting(context, keeps)
        if persists.before != persists.after:
            yield persists
    if restart and (at_start or units):
        restarts = restarting(context, units[0].unit if units else None, at_start)
        if restarts is not None:
            yield restarts
    # After the restart, which brings them too: on the way back these may be values of no option file.
    if at_once := {change.name: change.value for change in variables if not change.restart}:
        yield setting_globals(context, at_once)


def joined_mounts(changes: Sequence[kinds.Change]) -> Iterator[kinds.Change]:
    """What several rules want of one mount as one change, after the others.

    A remount sets all flags of the mount again (mount(8)): a second one, planned with the options from
    before the first, would undo the first.
    """
    mounts: dict[str, kinds.SetMountOptions] = {}
    for change in changes:
        if not isinstance(change, kinds.SetMountOptions):
            yield change
        elif (known := mounts.get(change.mount_point)) is None:
            mounts[change.mount_point] = change
        else:
            both = {"add": (*known.add, *change.add), "remove": (*known.remove, *change.remove)}
            mounts[change.mount_point] = known.model_copy(update=both)
    yield from mounts.values()


def _of_the_kernel(change: kinds.Change, context: ApplyContext) -> LiveAct | None:
    if isinstance(change, kinds.SetMountOptions):
        return remounting(change.mount_point, change.add, change.remove)
    if change.kernel_file is None or isinstance(change, kinds.ByHand | kinds.RemoveVariable):
        return None
    before, after = read_kernel_file(context.place(change.kernel_file)), " ".join(change.value.split())
    return WriteKernelFile(path=change.kernel_file, before=before, after=after) if before != after else None


def _units(changes: Sequence[kinds.Change]) -> Sequence[ReadUnit]:
    units: dict[str, dict[str, str]] = {}
    for change in changes:
        if isinstance(change, kinds.SetUnit):
            units.setdefault(change.unit, {})[change.name] = change.value
    return [reading_unit(unit, lines) for unit, lines in units.items()]


def _not_in_force(changes: Sequence[kinds.SetVariable], context: ApplyContext) -> Sequence[kinds.SetVariable]:
    if not changes or context.login is None:
        return ()
    with server_session(context, "SHOW GLOBAL VARIABLES") as cursor:
        in_force = show_global(cursor, "VARIABLES")
    return [change for change in changes if settings_difference({change.name: change.value}, in_force)]
