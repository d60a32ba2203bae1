"""The data on the system's own file system.

A log that grows without bound, a package's cache or a core dump fills it, and the database stops; a table
that grows stops the system, down to its logins. Mount options, file system and disks cannot be chosen for
the data alone either. For a small machine that is the usual and bearable way.
"""

from mydyno.advisor.rules import *

_SMALL = 1 << 30
"""Data below which it is no matter."""


def _judge(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    data = storage.of("data") if storage else None
    if system.host is None or data is None:
        return Unknown("the file system of the data")
    if system.host.container or data.kind == "overlay":
        return NotHere("a container's root is not the machine's")
    if data.mount_point != "/":
        return Fine(f"the data has a file system of its own: {data.mount_point}")
    if system.host.container is None:
        return Unknown("whether the server runs in a container")
    schema = system.server.schema_facts
    size = schema.seen_bytes if schema else 0
    if size < _SMALL and (schema is None or schema.partial or schema.bytes_by_engine is None):
        return Unknown("the size of the data")
    if size < _SMALL:
        return Fine(f"the data lies on /, and is {format_bytes(size)}")
    room = "" if data.free_bytes is None else f", {format_bytes(data.free_bytes)} free"
    return RULE.finding(
        title="The data shares the system's own file system: either can fill it for both",
        evidence=(
            f"datadir lies on / ({data.kind} on {data.source}{room})",
            f"data and indexes: {format_bytes(size)}",
        ),
        recommendation="a volume of its own for the data",
        changes=by_hand(
            "make a file system for the data, move the files while the server is stopped, and mount "
            "it at the data directory's place"
        ),
        severity=Severity.LOW,
        effect=better(
            "stability", "small", "a full system disk does not stop the database, nor the database the system"
        ),
        risk="moving takes an outage",
    )


RULE = Rule(
    checks="whether the data lies on the root file system",
    why="What fills the one stops the other.",
    expected="separate troubles; no speed by itself",
    risk="the files have to move",
    sources=("MySQL Reference Manual, How MySQL Handles a Full Disk", "hier(7), Linux manual page"),
    judge=_judge,
)
