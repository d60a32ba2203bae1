"""How much space is left where the server writes.

A full disk stops every write: InnoDB waits or fails, a binary log that cannot grow stops commits, and a
temporary file that fails ends its query. Before that, a rebuild of a table (ALTER, OPTIMIZE) needs the
table's size again, and file systems that are nearly full scatter what they write. What root keeps for
itself is not counted, since the server cannot have it.
"""

from mydyno.advisor.rules import *

_SHORT, _NONE = 0.10, 0.02
_PLENTY = 100 << 30
"""Free bytes above which a small share does not matter."""
_LAST = 1 << 30


@Rule(
    checks="the free space of each file system that the server writes to",
    why="On a full disk commits wait or fail.",
    expected="writes go on, and a table can be rebuilt",
    sources=("MySQL Reference Manual, How MySQL Handles a Full Disk", "df(1), Linux manual page"),
)
def rule(system: System, _: Targets) -> Judgement:
    measured = [
        (filesystem, files, filesystem.free_bytes, filesystem.size_bytes)
        for filesystem, files in places(system)
        if filesystem.free_bytes is not None and filesystem.size_bytes
    ]
    if not measured:
        return Unknown("the free space of the file systems under the server's files")
    lines = []
    worst, where = 1.0, ""
    critical = False
    for filesystem, files, free, size in measured:
        if free is None or size is None:
            continue
        part = free / size
        lines.append(
            f"{filesystem.mount_point} ({files}): {format_bytes(free)} of {format_bytes(size)} free "
            f"({part:.0%})"
        )
        if part < worst and (_used_up(part, free) or (part < _SHORT and free < _PLENTY)):
            worst, where = part, filesystem.mount_point
            critical = _used_up(part, free)
    if not where:
        return Fine("; ".join(lines))
    purge = ""
    if system.server.switch("log_bin"):
        purge = "; purge binary logs that every replica and backup has"
    return finding(
        title=f"{where} is nearly full: {worst:.0%} free",
        evidence=tuple(lines),
        recommendation=f"free space or grow {where}{purge}",
        changes=by_hand(
            f"see what fills {where}, then free space or grow it{purge}",
            f"du --one-file-system --max-depth=2 {where} | sort --numeric-sort",
        ),
        severity=Severity.CRITICAL if critical else Severity.HIGH,
        effect=better("stability", "large"),
    )


def _used_up(part: float, free: int) -> bool:
    return part < _NONE or (free < _LAST and part < 2 * _SHORT)
