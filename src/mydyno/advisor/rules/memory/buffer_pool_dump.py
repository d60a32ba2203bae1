"""Whether the buffer pool is warm again after a restart.

At shutdown the server can save the list of pages in its pool (numbers only, a few megabytes), and load them
in the background after the start, in file order. Without that, pages come back one query at a time, which
takes hours for a large pool on slow disks. On by default since MySQL 5.7.7 and MariaDB 10.2.2.
"""

from mydyno.advisor.rules import *

_NAMES = ("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup")
_LARGE = 8 * GIB


@Rule(
    checks="whether the buffer pool is saved and loaded across restarts",
    why="A cold pool makes the first minutes or hours after a restart slow.",
    expected="normal latency within minutes of a restart, at the cost of background reads; no effect "
    "otherwise",
    risk="the disks are busy reading for some minutes after a start",
    sources=(
        'MySQL Reference Manual, "Saving and Restoring the Buffer Pool State"',
        'MariaDB Documentation, "InnoDB Buffer Pool", dumping and restoring',
    ),
    variables=_NAMES,
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    pool = pool_bytes(system, targets)
    if pool is None or not server.has(*_NAMES):
        return Unknown(", ".join(_NAMES))
    changes = settings(server, dict.fromkeys(_NAMES, "ON"))
    if not changes:
        return Fine("the list of pages is saved at shutdown and loaded at the start")
    return finding(
        title="After a restart the buffer pool starts empty",
        evidence=(
            *(f"{name} = {server.text(name)}" for name in _NAMES),
            f"a pool of {format_bytes(pool)} holds {pool // 16384:,} pages of 16K, each a read of the disk",
        ),
        recommendation=f"set {' and '.join(change.name for change in changes)} to ON",
        changes=changes,
        severity=Severity.MEDIUM if pool >= _LARGE else Severity.LOW,
        effect=better("latency", "medium" if pool >= _LARGE else "small"),
    )
