"""A slow log on the file system of the tables.

It is written under one lock, in sequence, and grows until it is rotated. On the file system of the data
that has two effects: on a rotating disk each entry causes seeks away from the tables, and a threshold set
to 0 for an afternoon fills the disk of the tables, which stops the server. The size is an estimate: 1 KiB
for each entry.
"""

from mydyno.advisor.rules import *

_OFTEN = 20.0
"""Entries a second from which an arm feels it: a disk of 7200 turns a minute does about 100 I/Os."""
_SOON, _NOW = 30, 7
"""Days until it fills the disk."""
_LARGE = 0.1
"""Of the file system."""


@Rule(
    checks="whether the slow log shares the file system of the data, how fast it grows and how much is free",
    why="A log that fills the disk of the tables stops the server.",
    expected="a growing log cannot stop the server or slow the tables' disk; a little less latency on "
    "rotating disks",
    risk="programs that read the log need its new path",
    sources=(
        "MySQL Reference Manual, The Slow Query Log; How MySQL Handles a Full Disk",
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: slow_query_log_file on the array of the data",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    if server.switch("slow_query_log") is not True or "FILE" not in (server.text("log_output") or "FILE"):
        return NotHere("no slow log is written to a file")
    storage = system.host.storage if system.host else None
    log = next((use for use in storage.uses if use.files == "slow log"), None) if storage else None
    data, place = (storage.of("data"), storage.of("slow log")) if storage else (None, None)
    rate = usual_rate(server, "Slow_queries")
    if storage is None or log is None or data is None or place is None or rate is None:
        return Unknown("where the slow log is, or Slow_queries")
    if place.mount_point != data.mount_point:
        return Fine(f"it is on {place.mount_point}, the data on {data.mount_point}")
    days = days_until_full(data.free_bytes, rate * ENTRY_BYTES)
    has_arm = any(disk.kind == "rotating" for disk in storage.disks_of(data))
    in_the_way = has_arm and rate >= _OFTEN
    large = bool(log.file_bytes and data.size_bytes and log.file_bytes > _LARGE * data.size_bytes)
    soon = days is not None and days < _SOON
    written = (
        f"{a_second(rate)} x {ENTRY_BYTES} bytes = {format_bytes(int(rate * ENTRY_BYTES * 86_400))} a day"
    )
    if not (in_the_way or large or soon):
        return Fine(f"{written} on the file system of the data, {data.mount_point}")
    size = None if log.file_bytes is None else f"the log has {format_bytes(log.file_bytes)}"
    room = (
        None if data.free_bytes is None else f"{format_bytes(data.free_bytes)} are free on {data.mount_point}"
    )
    return finding(
        title=f"The slow log fills the disk of the tables in {days:.0f} days"
        if soon
        else f"The slow log is on the disk of the tables, {data.mount_point}",
        evidence=tuple(line for line in (written, size, room) if line),
        recommendation="move it to another file system and rotate it, or raise long_query_time",
        changes=by_hand(
            "set slow_query_log_file to a path on another file system, here and in the option file,"
            " and rotate the log with logrotate",
            "SHOW GLOBAL VARIABLES LIKE 'slow_query_log_file';",
            "FLUSH SLOW LOGS;",
        ),
        severity=Severity.HIGH if days is not None and days < _NOW else Severity.LOW,
        effect=better("disk space" if soon or large else "latency", "medium" if soon else "small"),
    )
