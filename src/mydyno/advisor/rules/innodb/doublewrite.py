"""Whether a page torn by a crash can be repaired.

A page has 16K, and a disk guarantees less: after a power cut half of a page may be new and half old. Redo
is applied to whole pages and cannot repair that. So InnoDB writes pages to a separate area first, in large
sequential writes, from which a torn page is restored. With it off, a crash can leave a table that only a
backup restores. MySQL's DETECT_ONLY (8.0.30) detects and does not repair; MariaDB's `fast` (11.0.6) skips
syncs of the data files.

A file system that never overwrites in place (ZFS) does not tear pages; there it may be off.
"""

from mydyno.advisor.rules import *
from mydyno.server.variables.row import same_value

_NAME = "innodb_doublewrite"
_FAST = "fast"


@Rule(
    checks="innodb_doublewrite, and the file system under the data",
    why="Redo cannot repair a page that is half old after a crash.",
    expected="no corrupt tables after a crash; somewhat more writes",
    durability="raises it",
    risk="somewhat lower write throughput",
    sources=(
        'MySQL Reference Manual, "Doublewrite Buffer"',
        'MariaDB Documentation, "InnoDB Doublewrite Buffer"; MDEV-33545',
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.text(_NAME), _NAME)
    if same_value(now, "ON") or same_value(now, "DETECT_AND_RECOVER"):
        return Fine(f"{_NAME} is {now}")
    lies_on = system.host.storage.of("data") if system.host else None
    if lies_on is not None and lies_on.kind == "zfs":
        return NotHere("the data is on ZFS, which never overwrites a page in place")
    fast = same_value(now, _FAST)
    changes = tuple(
        change.model_copy(update={"restart": change.restart or _only_at_start(server, now)})
        for change in settings(server, {_NAME: "ON"})
    )
    return finding(
        title=f"{_NAME} is {now}: "
        + ("data files are not synced" if fast else "a page torn by a crash cannot be repaired"),
        evidence=(f"{_NAME} = {now}",),
        recommendation=f"set {_NAME} to ON, unless the disks write 16K atomically",
        changes=changes,
        severity=Severity.MEDIUM if fast else Severity.CRITICAL,
        effect=worse(
            "throughput", "small", "pages are written twice, the first time sequentially; reads cost nothing"
        ),
        durability="raises",
        durability_says="tables survive a crash in the middle of a write",
    )


def _only_at_start(server: Server, now: str) -> bool:
    """MySQL can switch between ON and DETECT_ONLY while it runs, but not between OFF and either."""
    return not server.release.is_mariadb and same_value(now, "OFF")
