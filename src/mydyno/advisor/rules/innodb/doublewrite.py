"""Whether a page that is torn by a crash can be repaired.

A page has 16K, a disk guarantees less: after a power cut half of a page may be new and half old. Redo is
applied to whole pages and cannot repair that. So InnoDB writes pages to a place of their own first, in
large sequential writes, and from there a torn page is taken again. Off, a crash can leave a table that only
a backup brings back. MySQL's DETECT_ONLY (8.0.30) notices and does not repair; MariaDB's `fast` (11.0.6)
leaves out syncs of the data files.

A file system that never overwrites in place (ZFS) tears no page; there it may be off.
"""

from mydyno.advisor.rules import *
from mydyno.server.variables.row import same_value

_NAME = "innodb_doublewrite"
_FAST = "fast"


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.text(_NAME)
    if now is None:
        return Unknown(_NAME)
    if same_value(now, "ON") or same_value(now, "DETECT_AND_RECOVER"):
        return Fine(f"{_NAME} is {now}")
    lies_on = system.host.storage.of("data") if system.host else None
    if lies_on is not None and lies_on.kind == "zfs":
        return NotHere("the data lies on ZFS, which never overwrites a page in place")
    fast = same_value(now, _FAST)
    changes = tuple(
        change.model_copy(update={"restart": change.restart or _only_at_start(server, now)})
        for change in settings(server, {_NAME: "ON"})
    )
    return RULE.finding(
        title=f"{_NAME} is {now}: "
        + ("data files are not synced" if fast else "a page torn by a crash cannot be repaired"),
        evidence=(f"{_NAME} = {now}",),
        recommendation=f"set {_NAME} to ON, unless the disks are known to write 16K as a whole",
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


RULE = Rule(
    checks="innodb_doublewrite, and the file system under the data",
    why="Redo cannot repair a page of which a crash has left one half old.",
    expected="no damaged tables after a crash; some more writing",
    durability="raises it",
    risk="somewhat lower write throughput",
    sources=(
        'MySQL Reference Manual, "Doublewrite Buffer"',
        'MariaDB Documentation, "InnoDB Doublewrite Buffer"; MDEV-33545',
    ),
    judge=_judge,
    variables=(_NAME,),
)
