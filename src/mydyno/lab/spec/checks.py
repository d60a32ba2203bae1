"""Checks over several values that no single section can see."""

from collections.abc import Mapping as AbstractMapping
from collections.abc import Sequence

from mydyno.core.document.problems import Findings, Position
from mydyno.core.document.tree import Entry, Location, Mapping, Node, Scalar, find, locate, overlay, walk
from mydyno.core.document.tree import Sequence as Items
from mydyno.core.nearest import nearest
from mydyno.core.raid import level_title
from mydyno.lab.spec.factors import FactorSource
from mydyno.lab.spec.server import variable_name
from mydyno.lab.spec.setup import AS_CLONED, READING, Setup
from mydyno.lab.spec.storage import MEANINGFUL
from mydyno.lab.spec.workload import Workload

_CONFIG: Location = ("setup", "server", "config")


NOT_IN_GUESTS = {
    "sysbench": (
        "is a program of this machine and cannot be used",
        "a workload type of mydyno: oltp-read-write and others",
    ),
    "mysqlslap": ("is a program of this machine and cannot be used", "a workload type of mydyno: slap"),
    "trace": (
        "is a file of this machine, which the engine reads where the server is, and cannot be replayed",
        "`mydyno replay` or `mydyno rehearse` on that machine",
    ),
}
"""Workload types that run on this machine only: why, and what does the same work elsewhere."""
_NOT_ON_EXTERNAL = {
    "fio": "it drives disks that mydyno builds, and no server",
    "mysqlslap": "it drops and creates its own schema",
}


def refuse_empty_values(tree: Mapping, findings: Findings) -> Mapping:
    """The tree without values that were left empty (`question:` and nothing after it), each one reported."""
    for location, node in walk(tree):
        if isinstance(node, Scalar) and node.value is None:
            name = ".".join(str(step) for step in location)
            allowed = "a value, or leave the line out"
            if location[0] == "sizes":
                allowed = "{PATH: VALUE, ...}, or {} to change nothing"
            findings.add(locate(tree, location).key, f"{name} has no value", allowed=allowed)
    return _without_empty(tree)


def one_spelling(tree: Mapping, findings: Findings) -> Mapping:
    """The tree with dashes in names of server variables made underscores."""
    config = find(tree, _CONFIG)
    if not isinstance(config, Mapping):
        return tree
    entries: dict[str, Entry] = {}
    for written, entry in config.entries.items():
        name = variable_name(written)
        if name in entries:
            first = entries[name].key
            message = f"{name} is already given on line {first.line}, spelt with other dashes"
            findings.add(entry.key, message, written)
        else:
            entries[name] = entry
    place = locate(tree, _CONFIG)
    return overlay(tree, _CONFIG, Entry(place.key, Mapping(entries, config.position)))


def refuse_claims_of_nothing(tree: Mapping, factors: Sequence[FactorSource], findings: Findings) -> None:
    """A claim about a level that its factor does not have was misspelt."""
    known = {factor.name: [level.name for level in factor.levels] for factor in factors}
    for place, claim in enumerate(_items(tree.get("claims"))):
        if not isinstance(claim, Mapping):
            continue
        about, where = claim.get("factor"), claim.get("where")
        named = [(about.describe(), level) for level in _items(claim.get("order"))] if about else []
        if isinstance(where, Mapping):
            named += [(factor, entry.value) for factor, entry in where.entries.items()]
        for factor, level in named:
            text = level.describe()
            if factor in known and text not in known[factor]:
                message = f"claims.{place} names an unknown level of {factor}"
                likely = nearest(text, known[factor])
                findings.add(level.position, message, text, ", ".join(known[factor]), likely)


def _items(node: Node | None) -> Sequence[Node]:
    return node.items if isinstance(node, Items) else ()


def refuse_too_many_connections(setup: Setup, workload: Workload, tree: Mapping, findings: Findings) -> None:
    """A phase with more connections than max_connections can only fail."""
    limit = setup.server.config.get("max_connections")
    if limit is None:
        return
    most = max(workload.connections)
    if not isinstance(limit.number, int):
        allowed = "a number of connections"
        location = (*_CONFIG, "max_connections")
        findings.add(
            locate(tree, location).node.position, "max_connections is not a number", limit.text, allowed
        )
    elif most > limit.number:
        spot = locate(tree, ("workload", "connections"))
        message = (
            f"workload.connections reaches {most:,}, which is more than max_connections = {limit.number:,}"
        )
        findings.add(
            spot.node.position,
            message,
            spot.node.describe(),
            f"at most {limit.number:,}, or a larger max_connections",
        )


def refuse_equal_levels(
    factors: tuple[FactorSource, ...],
    index: int,
    meanings: AbstractMapping[tuple[str | None, ...], str],
    findings: Findings,
) -> None:
    """Two levels with the same value (256M and 268435456) would be compared with themselves.

    `meanings` are those of the points that are sound, by the names of their levels (None where a nested
    factor is not there). Two levels of the factor at `index` are equal when they mean the same wherever both
    are combined with the same levels of the others.
    """
    factor = factors[index]
    seen: dict[str, dict[tuple[str | None, ...], str]] = {}
    for level in factor.levels:
        others = {
            (*names[:index], *names[index + 1 :]): meaning
            for names, meaning in meanings.items()
            if names[index] == level.name
        }
        for earlier, before in seen.items():
            shared = before.keys() & others.keys()
            if shared and all(before[each] == others[each] for each in shared):
                message = f"level {level.name} of {factor.name} means the same as level {earlier}"
                findings.add(level.position, message, allowed="levels that differ")
                break
        seen[level.name] = others


def meaning_of(setup: Setup, workload: Workload) -> str:
    """A text that is equal exactly when two points would be measured under the same conditions."""
    config = sorted((name, repr(value.meaning)) for name, value in setup.server.config.items())
    bare = setup.model_copy(update={"server": setup.server.model_copy(update={"config": {}})})
    return f"{bare.model_dump_json()}{config}{workload.model_dump_json()}"


def _without_empty(node: Mapping) -> Mapping:
    entries = {
        key: Entry(
            entry.key, _without_empty(entry.value) if isinstance(entry.value, Mapping) else entry.value
        )
        for key, entry in node.entries.items()
        if not (isinstance(entry.value, Scalar) and entry.value.value is None)
    }
    return Mapping(entries, node.position)


def refuse_programs_elsewhere(setup: Setup, workload: Workload, tree: Mapping, findings: Findings) -> None:
    """An external program would have to cross to the server's host, and would measure the crossing; a trace
    would have to be sent there, and its results back."""
    instead = NOT_IN_GUESTS.get(workload.generator)
    if instead is None or setup.host.kind == "local":
        return
    where = "in a guest" if setup.host.is_guest else "on another machine"
    why, otherwise = instead
    message = f"workload.{workload.generator} {why} {where}"
    allowed = f"host: local, or {otherwise}"
    findings.add(locate(tree, ("workload", workload.generator)).key, message, allowed=allowed)


def refuse_on_external(setup: Setup, workload: Workload, tree: Mapping, findings: Findings) -> None:
    """On an external server nothing is written outside the named schema."""
    why = _NOT_ON_EXTERNAL.get(workload.generator)
    if why is None or setup.server.external is None:
        return
    message = f"workload.{workload.generator} cannot be used with setup.server.external: {why}"
    findings.add(locate(tree, ("workload", workload.generator)).key, message, allowed="another workload type")


def refuse_raw_alone(setup: Setup, workload: Workload, tree: Mapping, findings: Findings) -> None:
    """A raw device holds InnoDB's tables and nothing else; a server has more than these."""
    storage = setup.storage
    if storage is None or storage.data.filesystem != "raw" or storage.log is not None:
        return
    if workload.fio_options is None:
        spot = locate(tree, ("setup", "storage", "data", "filesystem"))
        message = "the data volume is raw, and the server's logs and other files need a file system"
        allowed = "storage.log: {disks: {size: SIZE}, filesystem: xfs} with it, or a file system here"
        findings.add(spot.node.position, message, spot.node.describe(), allowed)


def refuse_cache_without_tables(setup: Setup, workload: Workload, tree: Mapping, findings: Findings) -> None:
    """Nothing can be warmed that is not there yet, and fio has no server."""
    if setup.cache == AS_CLONED:
        return
    spot = locate(tree, ("setup", "cache"))
    if workload.fio_options is not None:
        message, allowed = "fio drives no server, and its files are past the page cache", "no cache here"
    elif setup.cache in READING and workload.makes_its_tables:
        message = f"{workload.generator} makes its tables while it is measured: there is nothing to read"
        allowed = "cold, as-cloned"
    else:
        return
    findings.add(spot.node.position, message, spot.node.describe(), allowed)


class IdleKeys:
    """Finds keys of volumes that no point of the experiment uses: a chunk where no array has any.

    One combined with a factor of levels is fine: where it has no effect it is left out, which the plan notes.
    """

    def __init__(self) -> None:
        self._used: dict[tuple[str, Position], bool] = {}
        self._levels: dict[tuple[str, Position], str] = {}

    def look(self, setup: Setup, tree: Mapping) -> None:
        """Notes which of the keys in `tree`, that of one point, are used there."""
        for location, key, used in idle_keys(setup, tree):
            spot = (key, locate(tree, location).node.position)
            self._used[spot] = self._used.get(spot, False) or used
            volume = setup.storage.volumes[str(location[2])] if setup.storage else None
            self._levels[spot] = level_title(volume.raid) if volume and volume.raid != "none" else "one disk"

    def report(self, findings: Findings) -> None:
        """One problem for each key that no point uses."""
        for (key, position), used in self._used.items():
            if not used:
                message = f"{key} is given, but {self._levels[key, position]} has none"
                levels = ", ".join(map(str, MEANINGFUL[key]))
                findings.add(position, message, allowed=f"raid: {levels}, or no {key}")


def idle_keys(setup: Setup, tree: Mapping) -> list[tuple[Location, str, bool]]:
    """The keys of the volumes that only some arrays have: where, which, and whether this setup uses it."""
    found: list[tuple[Location, str, bool]] = []
    for name, volume in setup.storage.volumes.items() if setup.storage else ():
        for key, levels in MEANINGFUL.items():
            location: Location = ("setup", "storage", name, key)
            if find(tree, location) is not None:
                found.append((location, key, volume.raid in levels))
    return found
