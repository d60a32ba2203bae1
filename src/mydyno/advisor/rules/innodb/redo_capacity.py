"""Whether the redo log is large enough for the rate of changes.

Every change goes to the redo log first; the pages themselves are written later, and one page that was
changed a hundred times is written once. The redo log limits how much later: when it is full, InnoDB must
write pages before any change can go on. A log that holds about an hour of the busiest time lets pages
collect changes and smooths bursts. It costs disk space and recovery time after a crash, which reads it
once.

MySQL has innodb_redo_log_capacity since 8.0.30, which can be changed while the server runs; before, it was
innodb_log_files_in_group files of innodb_log_file_size. MariaDB has one file, whose size can be changed
while it runs since 10.9. A log that is larger than needed is left alone.
"""

from collections.abc import Mapping

from mydyno.advisor.rules import *
from mydyno.advisor.targets.redo import redo_now, usual_write_rate

_SHORT = 450
"""Seconds of a busy hour: a log that lasts no longer is full eight times an hour."""


@Rule(
    checks="the size of the redo log compared with the rate at which it is written",
    why="A full redo log stops every change until pages are written; a small one makes InnoDB write the same "
    "page over and over.",
    expected="pages collect more changes before they are written: more throughput and fewer stalls under "
    "bursts of writes, in exchange for disk space",
    durability="none: committed transactions are in the log whatever its size",
    risk="recovery after a crash reads up to the whole log; where a restart is needed, the log is recreated "
    "after a clean shutdown (innodb_fast_shutdown below 2)",
    sources=(
        'MySQL Reference Manual, "Redo Log" and "Optimizing InnoDB Redo Logging"',
        'MariaDB Documentation, "InnoDB Redo Log"',
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: innodb_log_file_size 512M",
    ),
    variables=("innodb_redo_log_capacity", "innodb_log_file_size"),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now = require(redo_now(system), "the size of the redo log")
    wanted = require(targets.redo_bytes, "the rate of redo")
    changes = settings(server, _wanted_settings(server, wanted)) if wanted != now else ()
    if not changes:
        return Fine("; ".join(targets.redo_lines) or f"{format_bytes(now)} of redo log are enough")
    lasting = _lasting_seconds(system, now)
    short = lasting is not None and lasting < _SHORT
    return finding(
        title=f"The redo log has {format_bytes(now)}; {format_bytes(wanted)} is needed",
        evidence=(*targets.redo_lines, *_of_busy_hour(lasting), *_age(checkpoint_age(system))),
        recommendation="set " + " and ".join(f"{change.name} to {change.value}" for change in changes),
        changes=changes,
        severity=Severity.HIGH if short else Severity.MEDIUM,
        effect=better("throughput", "large" if short else "medium"),
    )


def _lasting_seconds(system: System, capacity: int) -> float | None:
    """How long the log lasts in a busy hour by the mean since the start.

    A minute that is watched has other writes than the next one, and the checkpoint age goes up and down all
    the time: how severe it is must not depend on either. None: the server is up for too short a time.
    """
    rate = usual_write_rate(system)
    return capacity / rate if rate else None


def _of_busy_hour(lasting: float | None) -> tuple[str, ...]:
    return () if lasting is None else (f"it lasts {lasting / 60:,.0f} minutes of a busy hour",)


def _wanted_settings(server: Server, wanted: int) -> Mapping[str, Setting]:
    """In the name that this release has for the whole, or for one of its files."""
    if server.has("innodb_redo_log_capacity"):
        return {"innodb_redo_log_capacity": size_text(wanted)}
    files = server.number("innodb_log_files_in_group") or 1
    return {"innodb_log_file_size": size_text(wanted // max(files, 1))}


def _age(age: tuple[float, float] | None) -> tuple[str, ...]:
    if age is None:
        return ()
    waiting, most = (format_bytes(int(size)) for size in age)
    return (f"{waiting} are not in the data files yet; changes wait at {most} ({age[0] / age[1]:.0%} now)",)
