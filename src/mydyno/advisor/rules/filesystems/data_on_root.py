"""The data on the system's own file system.

A log that grows without bound, a package's cache or a core dump fills it, and the database stops; a table
that grows stops the system, even logins. Mount options, file system and disks cannot be chosen for the data
alone either. For a small machine that is usual and acceptable.
"""

from mydyno.advisor.rules import *

_SMALL = 1 << 30
"""Data below which it does not matter."""


@Rule(
    checks="whether the data is on the root file system",
    why="What fills one stops the other.",
    expected="a full system disk does not stop the database, nor the database the system; no effect on speed",
    risk="moving needs downtime",
    sources=("MySQL Reference Manual, How MySQL Handles a Full Disk", "hier(7), Linux manual page"),
)
def rule(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    data = storage.of("data") if storage else None
    if system.host is None or data is None:
        return Unknown("the file system of the data")
    if system.host.container or data.kind == "overlay":
        return NotHere("a container's root is not the machine's root")
    if data.mount_point != "/":
        return Fine(f"the data has its own file system: {data.mount_point}")
    if system.host.container is None:
        return Unknown("whether the server runs in a container")
    schema = system.server.schema_facts
    size = schema.seen_bytes if schema else 0
    if size < _SMALL and (schema is None or schema.partial or schema.bytes_by_engine is None):
        return Unknown("the size of the data")
    if size < _SMALL:
        return Fine(f"the data is on /, and has {format_bytes(size)}")
    room = "" if data.free_bytes is None else f", {format_bytes(data.free_bytes)} free"
    return finding(
        title="The data is on the system's root file system: either can fill it",
        evidence=(
            f"datadir is on / ({data.kind} on {data.source}{room})",
            f"data and indexes: {format_bytes(size)}",
        ),
        recommendation="use a separate volume for the data",
        changes=by_hand(
            "make a file system for the data, move the files while the server is stopped, and mount "
            "it at the data directory's place"
        ),
        effect=better("stability", "small"),
    )
