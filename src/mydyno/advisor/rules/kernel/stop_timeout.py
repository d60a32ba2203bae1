"""Whether systemd waits long enough for a shutdown.

At a shutdown InnoDB writes its dirty pages. When that takes longer than TimeoutStopSec= (90 s unless set)
systemd kills the server, and the next start has to recover from the redo log: nothing that was committed is
lost, but the time is then spent in recovery, and MyISAM tables and a backup in progress may suffer. A unit
with SendSIGKILL=no is not killed. The time is dirty pages divided by the disk's writes per second.
"""

import math

from mydyno.advisor.rules import *

_LEAST = 900
"""Seconds: what MariaDB's own unit has."""
_LONGEST = 7200
"""Seconds from which on any number would be a guess."""
_MARGIN = 2
_WRITES = {"rotating": 150, "unknown": 500, "virtual": 1000, "ssd": 5000, "nvme": 20_000}
"""Random writes of a page in a second that a disk of this kind does, cautiously. innodb_io_capacity is what
the background may use: at a shutdown InnoDB writes as fast as the disk takes it."""


@Rule(
    checks="how long systemd waits for a shutdown, compared with the dirty pages to be written",
    why="A server that is killed during shutdown has to recover at the next start, which takes as long "
    "again.",
    expected="a shutdown ends cleanly, and the next start needs no recovery",
    durability="none: committed transactions are in the redo log either way",
    risk="a server that hangs delays a reboot that much longer",
    sources=(
        "systemd.service(5), TimeoutStopSec=",
        "systemd.kill(5), SendSIGKILL=",
        "MySQL Reference Manual, innodb_fast_shutdown",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    host = require(system.host, "how the server was started")
    require(host.process, "how the server was started")
    unit = require(unit_of(system), NotHere("no systemd unit started the server"))
    if unit.properties.get("SendSIGKILL") == "no":
        return Fine(f"{unit.name} is never killed (SendSIGKILL=no)")
    timeout = require(unit_seconds(unit, "TimeoutStop"), "TimeoutStopUSec of the unit")
    dirty = require(system.server.counter("Innodb_buffer_pool_pages_dirty"), "how many pages are dirty")
    if math.isinf(timeout):
        return Fine(f"systemd waits for {unit.name} as long as it takes")
    storage = host.storage
    speed = storage.speed_of(storage.of("data"))
    kinds = {disk.kind or "unknown" for disk in storage.disks_of(storage.of("data"))} or {"unknown"}
    slowest = min(kinds, key=lambda kind: _WRITES[kind])
    writes = speed.write_iops if speed else float(_WRITES[slowest])
    how = "measured" if speed else f"usual for a disk of the kind {slowest}"
    if not writes:
        return Unknown("how many writes a second the disk does")
    need = dirty / writes
    sums = (
        f"{dirty:.0f} dirty pages / {writes:.0f} writes/s ({how}) = {need:.0f} s; "
        f"systemd waits {format_duration(timeout)}"
    )
    if timeout >= need * _MARGIN:
        return Fine(sums)
    wanted = "infinity"
    if need * _MARGIN < _LONGEST:
        wanted = str(max(_LEAST, math.ceil(need * 2 * _MARGIN / 60) * 60))
    return finding(
        title=f"systemd kills the server {format_duration(timeout)} into a shutdown that needs "
        f"about {format_duration(need)}",
        evidence=(sums,),
        recommendation=f"TimeoutStopSec={wanted} for {unit.name}",
        changes=(
            SetUnit(
                unit=unit.name,
                name="TimeoutStopSec",
                value=wanted,
                was=unit.properties.get("TimeoutStopUSec"),
            ),
        ),
        severity=Severity.MEDIUM,
        effect=better("stability", "small"),
    )
