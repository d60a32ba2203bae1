"""Tables and logs on the same turning disks.

The redo log and the binary log are written in sequence and synced at each commit; table pages are read and
written all over. On disks with an arm each commit then waits for the arm to come back from a page: with logs
on disks of their own the arm stays there. On SSDs there is no arm, and sharing them is fine; so it is where
commits are few, or a controller's battery takes the syncs.
"""

from mydyno.advisor.rules import *

_SYNCS_PER_SECOND = 20
_LOGS = {"redo log": "innodb_log_group_home_dir", "binary log": "log_bin"}
"""With the variable that says where."""


def _judge(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    data = storage.of("data") if storage else None
    disks = storage.disks_of(data) if storage else ()
    if storage is None or data is None or not disks:
        return Unknown("the disks under the data")
    if not any(disk.kind == "rotating" for disk in disks):
        return NotHere("the data lies on no disk with an arm")
    shared = []
    for name in _LOGS:
        place = storage.of(name)
        if place and {disk.name for disk in storage.disks_of(place)} & {disk.name for disk in disks}:
            shared.append(name)
    if not shared:
        return Fine("the logs lie on disks of their own")
    syncs = often(system.server, "Innodb_data_fsyncs")
    if syncs is None:
        return Unknown("Innodb_data_fsyncs")
    names = ", ".join(disk.name for disk in disks)
    if syncs < _SYNCS_PER_SECOND:
        return Fine(f"{' and '.join(shared)} share {names} with the data, at only {syncs:.1f} syncs/s")
    return RULE.finding(
        title=f"{' and '.join(shared)} share the arm of {names} with the tables",
        evidence=(
            f"{syncs:.0f} syncs/s; a disk of 7200 turns/min does about 80 to 120 random I/Os/s",
            f"data: {data.mount_point} on {names}",
        ),
        recommendation=f"put {' and '.join(shared)} on other disks, best on a small SSD",
        changes=by_hand(
            f"with the server stopped, move {' and '.join(shared)} and set "
            f"{' and '.join(_LOGS[name] for name in shared)}"
        ),
        severity=Severity.MEDIUM,
        effect=better(
            "throughput", "large", "a commit waits for one turn of a disk whose arm is there already"
        ),
        risk="two places to back up; a snapshot of one volume no longer holds all",
        restart=True,
    )


RULE = Rule(
    checks="whether redo log and binary log share disks with an arm with the tables",
    why="Each commit's sync waits for the arm to return from random I/O of the tables.",
    expected="more commits on turning disks; nothing on SSDs",
    risk="backups have to know both places",
    sources=(
        "MySQL Reference Manual, Optimizing InnoDB Disk I/O; innodb_log_group_home_dir",
        "MariaDB Server Documentation, InnoDB redo log, innodb_log_group_home_dir",
    ),
    judge=_judge,
)
