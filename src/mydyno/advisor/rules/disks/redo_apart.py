"""Tables and logs on the same rotating disks.

The redo log and the binary log are written in sequence and synced at each commit; table pages are read and
written all over. On rotating disks each commit then waits for a seek: with logs on separate disks the head
stays in place. On SSDs sharing is fine; so it is where commits are few, or where a battery-backed
controller absorbs the syncs.
"""

from mydyno.advisor.rules import *

_SYNCS_PER_SECOND = 20
_LOGS = {"redo log": "innodb_log_group_home_dir", "binary log": "log_bin"}
"""With the variable that says where."""


@Rule(
    checks="whether redo log and binary log share rotating disks with the tables",
    why="Each commit's sync waits for seeks caused by random I/O of the tables.",
    expected="a commit waits for one rotation, without a seek; no effect on SSDs",
    risk="two places to back up; a snapshot of one volume no longer holds everything",
    sources=(
        "MySQL Reference Manual, Optimizing InnoDB Disk I/O; innodb_log_group_home_dir",
        "MariaDB Server Documentation, InnoDB redo log, innodb_log_group_home_dir",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    data = storage.of("data") if storage else None
    disks = storage.disks_of(data) if storage else ()
    if storage is None or data is None or not disks:
        return Unknown("the disks under the data")
    if not any(disk.kind == "rotating" for disk in disks):
        return NotHere("the data is not on rotating disks")
    shared = []
    for name in _LOGS:
        place = storage.of(name)
        if place and {disk.name for disk in storage.disks_of(place)} & {disk.name for disk in disks}:
            shared.append(name)
    if not shared:
        return Fine("the logs are on separate disks")
    syncs = require(often(system.server, "Innodb_data_fsyncs"), "Innodb_data_fsyncs")
    names = ", ".join(disk.name for disk in disks)
    if syncs < _SYNCS_PER_SECOND:
        return Fine(f"{' and '.join(shared)} share {names} with the data, at only {syncs:.1f} syncs/s")
    return finding(
        title=f"{' and '.join(shared)} share the disk heads of {names} with the tables",
        evidence=(
            f"{syncs:.0f} syncs/s; a 7200 rpm disk does about 80 to 120 random I/Os/s",
            f"data: {data.mount_point} on {names}",
        ),
        recommendation=f"put {' and '.join(shared)} on other disks, best on a small SSD",
        changes=by_hand(
            f"with the server stopped, move {' and '.join(shared)} and set "
            f"{' and '.join(_LOGS[name] for name in shared)}"
        ),
        severity=Severity.MEDIUM,
        effect=better("throughput", "large"),
        restart=True,
    )
