"""What a server would lose in a crash, judged from its settings in force.

Sources: MySQL 8.4 Reference Manual, "InnoDB Startup Options and System Variables" and "Binary Logging
Options and Variables"; MariaDB Knowledge Base, "InnoDB System Variables".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from mydyno.core.server_variables import OFF_WORDS


class Level(IntEnum):
    """Ordered: a higher level never loses what a lower one keeps."""

    UNSAFE = 0
    LOSES_ON_SERVER_CRASH = 1
    LOSES_ON_OS_CRASH = 2
    DURABLE = 3

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    Level.UNSAFE: "unsafe",
    Level.LOSES_ON_SERVER_CRASH: "loses up to 1 s on server crash",
    Level.LOSES_ON_OS_CRASH: "loses up to 1 s on OS crash",
    Level.DURABLE: "durable",
}


@dataclass(frozen=True)
class Durability:
    """The level and, unless it is durable, each setting that lowers it, in words."""

    level: Level
    reasons: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.level.label


def durability(in_force: Mapping[str, str], unflushed: Sequence[str] = ()) -> Durability:
    """The durability of committed InnoDB transactions under the settings that a server shows.

    `unflushed` are the volumes on which fsync does not empty the disks' caches (jfs, `nobarrier`). A disk
    that lies about its cache is not seen. A setting that the release does not have does not lower the level.
    """
    found = [judgement for judge in _JUDGES if (judgement := judge(in_force)) is not None]
    found += [
        (Level.UNSAFE, f"fsync leaves what the volume {volume} was told in the disks' caches")
        for volume in unflushed
    ]
    level = min((level for level, _ in found), default=Level.DURABLE)
    return Durability(level, tuple(reason for _, reason in found))


_Judgement = tuple[Level, str] | None


def _redo_log(in_force: Mapping[str, str]) -> _Judgement:
    value = in_force.get("innodb_flush_log_at_trx_commit")
    seconds = in_force.get("innodb_flush_log_at_timeout", "1")
    late = "" if seconds in ("0", "1") else f", here {seconds} s as innodb_flush_log_at_timeout={seconds}"
    if value is None:
        return Level.UNSAFE, "the server runs without InnoDB"
    if value == "0":
        return Level.LOSES_ON_SERVER_CRASH, (
            f"innodb_flush_log_at_trx_commit=0 writes the redo log once a second{late}"
        )
    if value == "2":
        return Level.LOSES_ON_OS_CRASH, (
            f"innodb_flush_log_at_trx_commit=2 syncs the redo log once a second{late}"
        )
    return None


def _binary_log(in_force: Mapping[str, str]) -> _Judgement:
    value = in_force.get("sync_binlog", "1")
    if in_force.get("log_bin") != "ON" or value == "1":
        return None
    when = "whenever the OS likes" if value == "0" else f"once in {value} group commits"
    return Level.LOSES_ON_OS_CRASH, (
        f"sync_binlog={value} syncs the binary log {when}; what it lost is rolled back in recovery"
    )


def _doublewrite(in_force: Mapping[str, str]) -> _Judgement:
    value = in_force.get("innodb_doublewrite", "ON")
    if value.lower() in OFF_WORDS:
        return Level.UNSAFE, f"innodb_doublewrite={value}: a page torn by a crash cannot be repaired"
    if value.upper() == "DETECT_ONLY":
        return Level.UNSAFE, f"innodb_doublewrite={value}: a torn page is noticed, not repaired"
    return None


def _flush_method(in_force: Mapping[str, str]) -> _Judgement:
    value = in_force.get("innodb_flush_method", "").lower()
    if value in ("nosync", "littlesync"):
        return Level.UNSAFE, f"innodb_flush_method={value} leaves out syncs that recovery relies on"
    if value == "o_direct_no_fsync":
        return Level.UNSAFE, (
            "innodb_flush_method=O_DIRECT_NO_FSYNC does not sync data files: "
            "safe only on disks without a volatile cache"
        )
    return None


def _forced_recovery(in_force: Mapping[str, str]) -> _Judgement:
    value = in_force.get("innodb_force_recovery", "0")
    if value in ("0", "1", "2", "3"):
        return None
    return Level.UNSAFE, f"innodb_force_recovery={value} may corrupt data files for good"


_JUDGES = (_redo_log, _binary_log, _doublewrite, _flush_method, _forced_recovery)
