"""The server's process: what the operating system and systemd let it have."""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.core.record import Record


class Limit(Record):
    """None: unlimited."""

    soft: int | None = None
    hard: int | None = None


class Unit(Record):
    """The systemd unit that started it."""

    name: str
    """`mariadb.service`."""
    file: str | None = None
    drop_ins: tuple[str, ...] = ()
    properties: Mapping[str, str] = {}
    """As `systemctl show` prints them: LimitNOFILE, LimitNPROC, LimitMEMLOCK, TasksMax, OOMScoreAdjust,
    MemoryMax, NUMAPolicy, SendSIGKILL, TimeoutStopUSec (`1min 30s`)..."""


class Process(Record):
    pid: int
    user: str | None = None
    binary: str | None = None
    limits: Mapping[str, Limit] = {}
    """By the names of /proc/PID/limits: `Max open files`, `Max processes`, `Max locked memory`."""
    open_files: int | None = None
    threads: int | None = None
    resident_bytes: int | None = None
    swapped_bytes: int | None = None
    oom_score_adj: int | None = None
    numa_policy: str | None = None
    """The policy of most of its memory in /proc/PID/numa_maps: default, interleave..."""
    unit: Unit | None = None
    option_files: tuple[str, ...] = ()
    """The my.cnf files that this server reads, in its order."""
