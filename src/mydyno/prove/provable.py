"""What a finding changes, as steps of an experiment file; or the reason why that cannot be measured there."""

from dataclasses import dataclass

from mydyno.apply import change as changes
from mydyno.apply.finding import Finding
from mydyno.prove.ground import Ground

Value = str | int | tuple[str, ...]
"""As an experiment file takes it."""

MOUNT = "storage.data.mount"
CONFIG = "server.config."
_QUEUE = {"scheduler": "scheduler", "read_ahead_kb": "readahead", "nr_requests": "queue_depth"}
_LIMITS = {"LimitNOFILE": "limits.nofile", "LimitNPROC": "limits.nproc"}
_OF_THE_LOAD = ("max_connections", "max_user_connections")
_OF_THE_MACHINE = "it applies to the whole machine, and an experiment does not change system settings"
_NEEDS_STORAGE = "a private server uses this machine's file system: --on vm or --on uml"


@dataclass(frozen=True)
class Step:
    """One path of the experiment file: its value as it is and as it is advised."""

    path: str
    value: Value
    was: Value | None
    """None: not known."""

    def onto(self, now: Value | None) -> Value:
        """The value at its path, where other steps may have changed it before."""
        return self.value


@dataclass(frozen=True)
class MountStep(Step):
    """Options of a mount: several findings may each add and remove some."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    def onto(self, now: Value | None) -> Value:
        before = now if isinstance(now, tuple) else ()
        return with_options(before, self.add, self.remove)


@dataclass(frozen=True)
class Tried:
    """A finding that can be put to the test, all of it or in part."""

    finding: Finding
    steps: tuple[Step, ...]
    left_out: tuple[str, ...] = ()
    """Its changes that are not measured, each with the reason."""


@dataclass(frozen=True)
class Untried:
    """A finding that cannot be put to the test there."""

    finding: Finding
    reasons: tuple[str, ...]


def tried(finding: Finding, ground: Ground) -> Tried | Untried:
    """The finding as steps of an experiment in that environment."""
    steps: list[Step] = []
    reasons: list[str] = []
    for change in finding.changes:
        step = _step(change, ground)
        if isinstance(step, str):
            reasons.append(f"{change.sentence()}: {step}")
        else:
            steps.append(step)
    if not steps:
        return Untried(finding, tuple(reasons) or ("it changes nothing by itself",))
    return Tried(finding, tuple(steps), tuple(reasons))


def _step(change: changes.Change, ground: Ground) -> Step | str:
    """The step, or why there is none."""
    match change:
        case changes.SetVariable():
            return _variable(change, ground)
        case changes.RemoveVariable():
            return "a line without effect: with and without it the server is the same"
        case changes.ByHand():
            return "it is done by hand"
        case changes.SetSysctl() | changes.SetSysfs():
            return _OF_THE_MACHINE
        case changes.SetArray():
            return "experiments cannot set this attribute of an array"
    if ground.on == "server":
        return "on the server itself only dynamic variables are set"
    if isinstance(change, changes.SetUnit):
        return _limit(change, ground)
    if not ground.has_storage:
        return _NEEDS_STORAGE
    return _queue(change, ground) if isinstance(change, changes.SetQueue) else _mount(change, ground)


def _variable(change: changes.SetVariable, ground: Ground) -> Step | str:
    if change.name in _OF_THE_LOAD:
        return "it limits connections, and the load opens a fixed number of them"
    if ground.on == "server" and change.restart:
        return "it takes effect only at a start: measure it on a private server (--on)"
    if change.name == "open_files_limit" and (why := _too_many_files(_count(change.value), ground)):
        return why
    if (why := ground.refuses(change.name, change.value)) is not None:
        return why
    if change.was and (why := ground.refuses(change.name, change.was)) is not None:
        return f"as it is ({change.was}): {why}"
    # A server has an empty value (no list, no file) where none was set.
    return Step(f"{CONFIG}{change.name}", change.value, change.was or None)


def _limit(change: changes.SetUnit, ground: Ground) -> Step | str:
    path = _LIMITS.get(change.name)
    if path is None:
        return "a private server is not started by systemd"
    value = _count(change.value)
    if value is None:
        return "limits of an experiment are numbers"
    if path == "limits.nofile" and (why := _too_many_files(value, ground)):
        return why
    return Step(path, value, _count(change.was))


def _too_many_files(wanted: int | None, ground: Ground) -> str | None:
    most = ground.most_open_files
    if wanted is None or most is None or wanted <= most:
        return None
    return f"processes of mydyno may open at most {most} files on this machine"


def _queue(change: changes.SetQueue, ground: Ground) -> Step | str:
    if change.disk not in ground.data_disks:
        return f"{change.disk} is not known to hold the data: give the facts (--facts)"
    path = f"storage.data.{_QUEUE[change.attribute]}"
    if change.attribute == "read_ahead_kb":
        return Step(path, f"{change.value}K", None if change.was is None else f"{change.was}K")
    if change.attribute == "nr_requests":
        return Step(path, int(change.value), _count(change.was))
    return Step(path, change.value, change.was)


def _mount(change: changes.SetMountOptions, ground: Ground) -> Step | str:
    if ground.data is None or change.mount_point != ground.data.mount_point:
        return f"{change.mount_point} is not known to hold the data: give the facts (--facts)"
    was = of_volume(change.was or ())
    return MountStep(MOUNT, with_options(was, change.add, change.remove), was, change.add, change.remove)


_KEPT_OPTIONS = (
    *("noatime", "relatime", "strictatime", "atime", "nodiratime", "lazytime", "nolazytime"),
    *("barrier", "nobarrier", "data", "commit", "discard", "nodiscard", "journal_async_commit"),
    *("compress", "compress-force", "nodatacow", "autodefrag", "ssd"),
)


def of_volume(options: tuple[str, ...]) -> tuple[str, ...]:
    """Those that matter to speed and mean the same on a volume of other disks: no sizes, labels, quotas."""
    return tuple(option for option in options if option.partition("=")[0] in _KEPT_OPTIONS)


def with_options(before: tuple[str, ...], add: tuple[str, ...], remove: tuple[str, ...]) -> tuple[str, ...]:
    """Mount options with some added and some taken away; what is added replaces its opposite."""
    gone = {*remove, *(word for option in add for word in _replaced(option))}
    return (
        *(option for option in before if option not in gone and option.partition("=")[0] not in gone),
        *add,
    )


def _replaced(option: str) -> tuple[str, ...]:
    name = option.partition("=")[0]
    if name.endswith("atime") and name != "nodiratime":
        return ("noatime", "relatime", "strictatime", "atime")
    return (name, name.removeprefix("no") if name.startswith("no") else f"no{name}")


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None
