"""Checks of the setup over several sections, or over all points of an experiment."""

from __future__ import annotations

from mydyno.core.document.problems import Findings, Position
from mydyno.core.document.tree import Location, Mapping, find, locate
from mydyno.core.raid import level_title
from mydyno.lab.spec.cache import AS_CLONED, READING
from mydyno.lab.spec.setup import Setup
from mydyno.lab.spec.storage import MEANINGFUL
from mydyno.lab.spec.workload import Workload

NOT_IN_GUESTS = {"sysbench": "oltp-read-write and others", "mysqlslap": "slap"}
"""External programs that run on this machine only, and the generators of mydyno that do the same work."""

_NOT_ON_EXTERNAL = {
    "fio": "it drives disks that mydyno builds, and no server",
    "mysqlslap": "it drops and creates its own schema",
}


def refuse_programs_in_guests(setup: Setup, workload: Workload, tree: Mapping, findings: Findings) -> None:
    """An external program would have to cross into the guest, and would measure the crossing."""
    instead = NOT_IN_GUESTS.get(workload.generator)
    if instead is None or not setup.host.is_guest:
        return
    message = f"workload.{workload.generator} is a program of this machine and cannot be used in a guest"
    allowed = f"host: local, or a workload type of mydyno: {instead}"
    findings.add(locate(tree, ("workload", workload.generator)).key, message, allowed=allowed)


def refuse_on_external(setup: Setup, workload: Workload, tree: Mapping, findings: Findings) -> None:
    """On a server of somebody else's nothing is written outside the named schema."""
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

    One beside a factor of levels is fine: it is left out where it says nothing, which the plan notes.
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
