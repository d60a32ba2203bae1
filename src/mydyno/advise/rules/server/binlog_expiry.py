"""When old binary logs are removed.

Without an expiry they stay until the disk is full, and a server whose disk is full stops. With one shorter
than the time between backups, a restore has a gap. What is removed is gone, so mydyno leaves it to you:
decide how far back a restore must reach and how long a replica may be away, and set that.
"""

from __future__ import annotations

from mydyno.advise.change import ByHand
from mydyno.advise.counts import DAY, decimal, often
from mydyno.advise.finding import Effect, Finding, Severity
from mydyno.advise.rule import Fine, Judgement, NotHere, Rule, Unknown
from mydyno.advise.targets import Targets
from mydyno.core.units import format_bytes
from mydyno.facts import System

_SECONDS, _DAYS = "binlog_expire_logs_seconds", "expire_logs_days"
_SOON = 14
"""Days until the disk is full."""
_LATE = 365
_WANTED_DAYS = 14


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    logs = server.switch("log_bin")
    if logs is None:
        return Unknown("log_bin")
    if not logs or server.role.managed is not None:
        return NotHere("there is no binary log of its own")
    if (server.number("max_binlog_total_size") or 0) or (server.number("binlog_space_limit") or 0):
        return Fine("their size is bounded")
    seconds = server.number(_SECONDS) or 0
    kept = seconds / DAY or (decimal(server, _DAYS) or 0)
    if kept and server.switch("binlog_expire_logs_auto_purge") is not False:
        return Fine(f"binary logs are removed after {kept:g} days")
    days = _days_until_full(system)
    name, value = (_SECONDS, _WANTED_DAYS * DAY) if server.has(_SECONDS) else (_DAYS, _WANTED_DAYS)
    set_it = f"SET GLOBAL {name} = {value};"
    return Finding(
        rule=RULE.id,
        title="Binary logs are never removed"
        + (f": the disk is full in {days:.0f} days" if days is not None and days < _LATE else ""),
        evidence=(
            f"{_SECONDS} = {server.text(_SECONDS)}, {_DAYS} = {server.text(_DAYS)}",
            *_space(system),
        ),
        recommendation=f"let them expire, after {_WANTED_DAYS} days or as long as backups and replicas need",
        changes=(
            ByHand(
                says=f"set {name}, here and in the option file; what is older is deleted for good",
                commands=(set_it, "SHOW BINARY LOGS;"),
            ),
        ),
        severity=Severity.CRITICAL if days is not None and days < _SOON else Severity.MEDIUM,
        effect=Effect(
            aspect="disk space",
            direction="better",
            size="large" if days is not None and days < _SOON else "medium",
            says="the disk does not fill up with logs nobody needs",
        ),
        risk="a restore or a replica that needs older logs cannot have them",
    )


def _days_until_full(system: System) -> float | None:
    written = often(system.server, "Binlog_bytes_written")
    free = _free(system)
    return None if not written or free is None else free / written / DAY


def _free(system: System) -> int | None:
    storage = system.host.storage if system.host else None
    place = (storage.of("binary log") or storage.of("data")) if storage else None
    return place.free_bytes if place else None


def _space(system: System) -> tuple[str, ...]:
    written, free = often(system.server, "Binlog_bytes_written"), _free(system)
    lines = []
    if written is not None:
        lines.append(f"{format_bytes(int(written * DAY))} are written each day at the present rate")
    if free is not None:
        lines.append(f"{format_bytes(free)} are free on their file system")
    return tuple(lines)


RULE = Rule(
    id="binlog-expiry",
    layer="binary log",
    checks="whether binary logs expire, and when the disk would be full",
    why="Logs that never expire fill the disk, and a server on a full disk stops.",
    expected="no full disk; no effect on speed",
    durability="none on the data; how far back a backup can be brought forward",
    risk="older logs are gone for restores and replicas",
    sources=(
        "MySQL Reference Manual, Binary Logging Options and Variables, binlog_expire_logs_seconds",
        "MariaDB Documentation, Using and Maintaining the Binary Log",
    ),
    judge=_judge,
)
