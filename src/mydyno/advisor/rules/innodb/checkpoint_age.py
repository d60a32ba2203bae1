"""How near the redo log is to being full.

The checkpoint age is how much redo is not in the data files yet. As it nears the log's capacity, InnoDB
writes pages faster and faster, until every query waits for it (synchronous flushing): throughput falls to
what the disks can write, in waves. A larger redo log moves that point away, a higher innodb_io_capacity
makes the writing begin in time.
"""

from mydyno.advisor.rules import *

_NEAR = 0.75
_FULL = 0.9


@Rule(
    checks="how much of the redo log is in use, compared with the point at which changes have to wait",
    why="Near the end of the redo log all changes wait for pages to be written.",
    expected="steady throughput under writes",
    sources=(
        'MySQL Reference Manual, "Configuring Buffer Pool Flushing"',
        'MariaDB Documentation, "InnoDB Status Variables", Innodb_checkpoint_max_age',
    ),
)
def rule(system: System, targets: Targets) -> Judgement:
    known = require(
        checkpoint_age(system), "the checkpoint age: the account needs PROCESS for SHOW ENGINE INNODB STATUS"
    )
    age, most = known
    share = age / most
    if share < _NEAR:
        return Fine(f"{share:.0%} of the redo log that may be in use")
    return finding(
        title=f"The redo log is nearly full: {share:.0%} of what may be in use",
        evidence=(
            f"checkpoint age {format_bytes(int(age))} of {format_bytes(int(most))} = {share:.0%}",
            f"a redo log of {format_bytes(targets.redo_bytes)} is advised for this load"
            if targets.redo_bytes
            else None,
        ),
        recommendation="see redo-capacity and io-capacity; if both are followed, the disks are too slow",
        changes=by_hand("look at the checkpoint age again once the redo log has its advised size"),
        severity=Severity.HIGH if share >= _FULL else Severity.MEDIUM,
        effect=better("stability", "large" if share >= _FULL else "medium"),
    )
