"""When old binary logs are removed.

Without an expiry they stay until the disk is full, and a server with a full disk stops. With one shorter
than the time between backups, a restore has a gap. Removed logs are gone, so mydyno leaves it to you:
decide how far back a restore must reach and how long a replica may be disconnected, and set that.

An expiry helps only if that many days of logs fit. Where the server counts the bytes that it writes
(MariaDB's Binlog_bytes_written), at most half of the free space is planned for logs, and an existing expiry
is checked as well: the logs written before the first one expires must fit.
"""

from dataclasses import dataclass

from mydyno.advisor.rules import *

_SECONDS, _DAYS = "binlog_expire_logs_seconds", "expire_logs_days"
_SOON = 14
"""Days until the disk is full."""
_LATE = 365
_WANTED_DAYS = 14
_SHARE = 0.5
"""Of the free space, what logs may take: the rest is for tables, temporary files and a busier day."""
_HOUR = 3600


@dataclass(frozen=True)
class _Expiry:
    """What to set, and how it was found."""

    name: str
    value: int
    lines: tuple[str, ...]
    fits: bool
    """Whether the logs of that time have room."""

    @property
    def words(self) -> str:
        return _span(self.value if self.name == _SECONDS else self.value * DAY)


@Rule(
    checks="whether binary logs expire, and when the disk would be full",
    why="Logs that never expire fill the disk, and a server on a full disk stops.",
    expected="the disk does not fill up with unneeded logs; no effect on speed",
    durability="none for the data; it limits point-in-time recovery",
    risk="older logs are not available for restores and replicas",
    sources=(
        "MySQL Reference Manual, Binary Logging Options and Variables, binlog_expire_logs_seconds",
        "MariaDB Documentation, Using and Maintaining the Binary Log",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    logs = require(server.switch("log_bin"), "log_bin")
    if not logs or server.role.managed is not None:
        return NotHere("there is no binary log")
    if (server.number("max_binlog_total_size") or 0) or (server.number("binlog_space_limit") or 0):
        return Fine("their size is bounded")
    free, rate = free_bytes(system, "binary log", "data"), usual_rate(server, "Binlog_bytes_written")
    kept = _kept_seconds(server)
    full_in = days_until_full(free, rate)
    if kept is not None:
        to_come = max(0.0, kept - (server.uptime_seconds or 0))
        if full_in is None or full_in * DAY >= to_come:
            return Fine(f"binary logs are removed after {_span(kept)}")
    wanted = _wanted(server, free, rate)
    urgent = full_in is not None and full_in < _SOON
    return finding(
        title=_title(kept, full_in),
        evidence=(
            f"{_SECONDS} = {server.text(_SECONDS)}, {_DAYS} = {server.text(_DAYS)}",
            *_space(free, rate),
            *wanted.lines,
        ),
        recommendation=f"expire them after {wanted.words}, or as backups and replicas need"
        + ("" if wanted.fits else "; the disk is too small for that: use a larger one for the binary log"),
        changes=by_hand(
            f"set {wanted.name}, here and in the option file; older logs are deleted permanently",
            "SHOW BINARY LOGS;",
            f"SET GLOBAL {wanted.name} = {wanted.value};",
        ),
        severity=Severity.CRITICAL if urgent else Severity.MEDIUM,
        effect=better("disk space", "large" if urgent else "medium"),
    )


def _kept_seconds(server: Server) -> float | None:
    """None: for ever."""
    if server.switch("binlog_expire_logs_auto_purge") is False:
        return None
    return (server.number(_SECONDS) or 0) or (decimal(server, _DAYS) or 0) * DAY or None


def _wanted(server: Server, free: int | None, rate: float | None) -> _Expiry:
    """The usual number of days, or as much of it as has room at the present rate."""
    usual, lines, fits = _WANTED_DAYS * DAY, [], True
    seconds = usual
    if free is not None and rate:
        room = free * _SHARE / rate
        lines.append(
            f"{format_bytes(free)} x {_SHARE:.0%} / {format_bytes(int(rate * DAY))} a day = {_span(room)}"
        )
        seconds = int(min(usual, room))
    if server.has(_SECONDS):
        step = DAY if seconds >= DAY else _HOUR
        value, fits = max(_HOUR, seconds // step * step), seconds >= _HOUR
        return _Expiry(_SECONDS, value, tuple(lines), fits)
    return _Expiry(_DAYS, max(1, seconds // DAY), tuple(lines), seconds >= DAY)


def _title(kept: float | None, full_in: float | None) -> str:
    title = "Binary logs are never removed" if kept is None else f"Binary logs are kept for {_span(kept)}"
    if full_in is None or full_in >= _LATE:
        return title
    return f"{title}: the disk is full in {_span(full_in * DAY)}"


def _space(free: int | None, rate: float | None) -> tuple[str, ...]:
    lines = [
        "how much is written is not known: this release does not count it"
        if rate is None
        else f"{format_bytes(int(rate * DAY))} are written each day at the present rate"
    ]
    if free is not None:
        lines.append(f"{format_bytes(free)} are free on their file system")
    return tuple(lines)


def _span(seconds: float) -> str:
    """`14 days`, `7 hours`, `12 minutes`: rounded down."""
    for size, word in ((DAY, "day"), (_HOUR, "hour"), (60, "minute")):
        if number := int(seconds // size):
            return f"{number} {word}{'' if number == 1 else 's'}"
    return "less than a minute"
