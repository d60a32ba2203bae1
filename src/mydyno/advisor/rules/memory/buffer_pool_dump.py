"""Whether the buffer pool is warm again after a restart.

At its end the server can write down which pages were in its pool (numbers only, some megabytes), and read
them again when it starts, in the background and in the order of the files. Without that, every page comes
back one query at a time, which takes hours for a large pool on slow disks. On by default since MySQL 5.7.7
and MariaDB 10.2.2.
"""

from mydyno.advisor.rules import *

_NAMES = ("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup")
_LARGE = 8 * GIB


def _judge(system: System, targets: Targets) -> Judgement:
    server = system.server
    pool = targets.buffer_pool_bytes or server.number("innodb_buffer_pool_size")
    if pool is None or not server.has(*_NAMES):
        return Unknown(", ".join(_NAMES))
    changes = settings(server, dict.fromkeys(_NAMES, "ON"))
    if not changes:
        return Fine("the list of pages is written at the end and read at the start")
    return RULE.finding(
        title="After a restart the buffer pool starts empty",
        evidence=(
            *(f"{name} = {server.text(name)}" for name in _NAMES),
            f"a pool of {format_bytes(pool)} holds {pool // 16384:,} pages of 16K, each a read of the disk",
        ),
        recommendation=f"set {' and '.join(change.name for change in changes)} to ON",
        changes=changes,
        severity=Severity.MEDIUM if pool >= _LARGE else Severity.LOW,
        effect=better(
            "latency",
            "medium" if pool >= _LARGE else "small",
            "normal answers within minutes of a restart; nothing in between",
        ),
    )


RULE = Rule(
    checks="whether the pages of the buffer pool are remembered over a restart",
    why="A cold pool makes the first minutes or hours after a restart slow.",
    expected="a warm pool soon after a restart, at the price of reads in the background at its start",
    risk="the disks are busy with reading for some minutes after a start",
    sources=(
        'MySQL Reference Manual, "Saving and Restoring the Buffer Pool State"',
        'MariaDB Documentation, "InnoDB Buffer Pool", dumping and restoring',
    ),
    judge=_judge,
    variables=_NAMES,
)
