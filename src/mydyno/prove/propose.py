"""From advice, a place and a load to the experiment: what brings the other modules together.

A private server shares settings with the advised one besides those that the advice changes. In a guest it has
the advised server's disks, rebuilt of files: as many, as one array, with its file system.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from mydyno.advisor.advice import Advice
from mydyno.advisor.excerpt import SETTINGS
from mydyno.apply.finding import Finding
from mydyno.core.errors import UsageError
from mydyno.core.facts import HostFacts
from mydyno.core.raid import BY_MD_NAME
from mydyno.core.units import format_bytes
from mydyno.lab.plan.memory import DEFAULT_MAX_CONNECTIONS
from mydyno.lab.spec import FileSystem
from mydyno.lab.workload import WorkloadFile
from mydyno.prove import shape
from mydyno.prove.experiment import Common, Load, Proposal, name_of
from mydyno.prove.ground import Ground
from mydyno.prove.levels import Levels, levels_of
from mydyno.prove.provable import CONFIG, Tried, Untried, of_volume, tried
from mydyno.prove.shape import scaled_value
from mydyno.survey.facts import Array, Server, System

_SPARE_CONNECTIONS = 20
"""For mydyno's own, besides those of the load."""
_CACHED = f"{CONFIG}thread_cache_size"


@dataclass(frozen=True)
class Wanted:
    """What is requested, besides the advice and the place."""

    name: str
    """After which the experiment is called: the advice file's."""
    only: tuple[str, ...] | None
    """Rules; None: all that have a finding."""
    workload: WorkloadFile
    options: Mapping[str, Any]
    data_bytes: int | None
    load: Load
    release: str | None
    """None for a server that is not ours."""
    external: Mapping[str, Any] | None
    notes: tuple[str, ...] = ()
    """What else is other than on the advised server."""
    pool_share: float = 1.0
    """Of what holds data in memory, besides the share of the data: see pilot.py."""
    most_data_bytes: int | None = None
    """As many as can be loaded in the time; None: as many as there is room for."""


def propose(advice: Advice, ground: Ground, wanted: Wanted, here: HostFacts) -> Proposal:
    """The experiment. `here`: memory and disk of the host that the server is on.

    Raises UsageError when none of the advice can be measured there.
    """
    attempts = [tried(finding, ground) for finding in chosen_findings(advice, wanted.only)]
    to_try = [trial_of for trial_of in attempts if isinstance(trial_of, Tried)]
    untried = tuple(trial_of for trial_of in attempts if isinstance(trial_of, Untried))
    made = shape.shape_of(
        wanted.workload,
        wanted.options,
        wanted.data_bytes,
        _real(ground),
        _largest(to_try, ground),
        here,
        wanted.most_data_bytes,
    )
    scale = made.scale * wanted.pool_share
    levels = levels_of(shape.scaled(to_try, scale))
    if not levels.alone:
        raise _nothing((*untried, *levels.untried))
    return Proposal(
        name=name_of(wanted.name),
        advice=advice,
        levels=levels,
        untried=untried,
        shape=replace(made, notes=(*made.notes, *wanted.notes)),
        common=Common(
            on=ground.on,
            release=wanted.release,
            external=wanted.external,
            config=_config(ground, levels, scale, wanted.load),
            storage=storage_of(ground.system, made.data_bytes) if ground.has_storage else None,
            warm=ground.on != "server" and holds_data(levels),
        ),
        load=wanted.load,
    )


def chosen_findings(advice: Advice, only: Sequence[str] | None) -> tuple[Finding, ...]:
    """Those of the rules that are named, or all. Raises UsageError for one that the advice does not have."""
    if only is None:
        if not advice.findings:
            raise UsageError("this advice has no findings to prove")
        return advice.findings
    by_rule = {finding.rule: finding for finding in advice.findings}
    for name in only:
        if name not in by_rule:
            has = ", ".join(by_rule) or "none"
            raise UsageError(f"the advice has no finding of the rule {name}", f"it has {has}")
    return tuple(by_rule[name] for name in only)


def most_connections(connections: str) -> int:
    """The largest of `1,8,10..400 step 10`."""
    numbers = re.findall(r"\d+", re.sub(r"step\s+\d+", "", connections))
    return max(map(int, numbers), default=1)


def holds_data(levels: Levels) -> bool:
    """Whether some level gives another size to what holds data in memory."""
    now = levels.now.values
    paths = [f"{CONFIG}{name}" for name in shape.HOLD_DATA]
    return any(level.values.get(path) != now.get(path) for level in levels.alone for path in paths)


def _real(ground: Ground) -> int | None:
    """Bytes of the advised server's tables; None: not known. On the server itself
    the load's tables come in addition to them."""
    schema = ground.system.server.schema_facts if ground.system else None
    return schema.innodb_bytes if schema and ground.on != "server" else None


def _largest(findings: Iterable[Tried], ground: Ground) -> int | None:
    """The most bytes that one variable gives to data in memory, as it is or as advised."""
    server = ground.system.server if ground.system else None
    now = [server.number(name) for name in shape.HOLD_DATA] if server else []
    sizes = [size for size in (shape.largest(findings), *now) if size is not None]
    return max(sizes, default=None)


def _config(ground: Ground, levels: Levels, scale: float, load: Load) -> dict[str, str | int]:
    """Settings that all levels share."""
    if ground.on == "server":
        return {}
    changed = [path.removeprefix(CONFIG) for level in levels.all for path in level.values]
    # No more threads are cached than may connect.
    cached = [str(level.values[_CACHED]) for level in levels.all if _CACHED in level.values]
    most = max(
        DEFAULT_MAX_CONNECTIONS,
        most_connections(load.connections) + _SPARE_CONNECTIONS,
        *(int(value) for value in cached if value.isdigit()),
    )
    return {**shared_settings(ground, changed, scale), "max_connections": most}


def _nothing(untried: Iterable[Untried]) -> UsageError:
    reasons = "".join(f"\n  {finding.finding.rule}: {'; '.join(finding.reasons)}" for finding in untried)
    return UsageError(
        f"none of this advice can be measured in this environment:{reasons}",
        "use --on vm or --on uml for disks and file systems, with --facts for those of the server",
    )


_INSTEAD = {
    # Both are shown where the newer one counts (MySQL 8.0.30 and later); two names of one thing are refused.
    "innodb_log_file_size": "innodb_redo_log_capacity",
    "innodb_log_files_in_group": "innodb_redo_log_capacity",
    "tx_isolation": "transaction_isolation",
}


_AS_SHIPPED = ("compiled", "computed")
"""Origins of a value that was not set: a server of that release has it by itself, and one of another
release its own, which is what would become of it there."""


def shared_settings(ground: Ground, changed: Iterable[str], scale: float) -> dict[str, str]:
    """Variables that were set on the advised server, as far as the facts have them and the server there takes
    them.

    `changed` are the variables that some level sets; those have their values as it is from the advice.
    """
    server = ground.system.server if ground.system else None
    if server is None or ground.on == "server":
        return {}
    taken = set(changed)
    shared: dict[str, str] = {}
    for name in SETTINGS:
        value = _value(server, name)
        if value is None or name in taken or _INSTEAD.get(name) in server.variables:
            continue
        value = scaled_value(name, value, scale)
        if ground.refuses(name, value) is None:
            shared[name] = value
    return shared


def _value(server: Server, name: str) -> str | None:
    """None where it is not known, was not set, or is empty."""
    known = server.variables.get(name)
    if known is None or (known.origin is not None and known.origin.source in _AS_SHIPPED):
        return None
    if name == "query_cache_size" and server.switch("query_cache_type") is False:
        # A server with a size set at its start enables the cache, whatever its type is.
        return None
    return known.value or None


_LEAST_DISK = 2 << 30
_DATA_TIMES = 6
"""Space for the data with its redo log, undo and what the load adds, in multiples of the data."""


def storage_of(system: System | None, data_bytes: int) -> dict[str, Any]:
    """`setup.storage.data` in the shape of the advised server's; without facts one disk as it comes."""
    storage = system.host.storage if system and system.host else None
    filesystem = storage.of("data") if storage else None
    made: dict[str, Any] = {}
    disks: dict[str, Any] = {"size": _size(data_bytes, 1)}
    if storage is None or filesystem is None:
        return {"disks": disks}
    array = storage.array_of(filesystem)
    if array is not None and array.level in BY_MD_NAME:
        disks = {"count": array.devices, "size": _size(data_bytes, _holding(array))}
        level = BY_MD_NAME[array.level]
        made["raid"] = level.raid
        if array.chunk_bytes and level.is_striped:
            made["chunk"] = format_bytes(array.chunk_bytes)
    speed = storage.speed_of(filesystem)
    if speed is not None:
        # The limit of a disk of ours counts reads and writes together.
        disks["iops"] = max(int(min(speed.read_iops, speed.write_iops) / disks.get("count", 1)), 1)
    if filesystem.kind in get_args(FileSystem):
        made["filesystem"] = filesystem.kind
        made["mount"] = of_volume(filesystem.options)
    return {"disks": disks, **made}


def _holding(array: Array) -> int:
    """How many of its disks hold data that no other one holds."""
    level = BY_MD_NAME.get(array.level)
    if level is None:
        return array.devices
    if level.is_mirror:
        return max(array.devices // 2, 1) if level.is_striped else 1
    return array.devices - level.parity_disks


def _size(data_bytes: int, holding: int) -> str:
    """Of each disk, in whole gibibytes."""
    whole = max(_DATA_TIMES * data_bytes // max(holding, 1), _LEAST_DISK)
    return f"{-(-whole // (1 << 30))}G"
