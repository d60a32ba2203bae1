"""Whether a transaction keeps old row versions from being purged.

A transaction that stays open, or one statement that runs for hours under REPEATABLE READ, may read any row
as it was when it began: no newer version of any table can be purged. The history list counts transactions
whose versions wait. In the hundreds of thousands, reads get slower because they skip over dead versions; in
the millions, undo tablespaces grow by gigabytes, and purge takes long to catch up.
"""

from mydyno.advisor.rules import *

_LONG, _VERY_LONG = 1_000_000, 10_000_000
_OLDEST = (
    "SELECT trx_mysql_thread_id, trx_started, trx_rows_modified, trx_query "
    "FROM information_schema.INNODB_TRX ORDER BY trx_started LIMIT 5"
)


@Rule(
    checks="the length of the history list",
    why="One forgotten transaction keeps old versions of all tables alive.",
    expected="reads no longer skip over dead row versions, and undo stops growing, once the transaction is "
    "gone",
    risk="ending a transaction rolls it back, which takes as long as its changes took",
    sources=(
        'MySQL Reference Manual, "Purge Configuration" and "InnoDB Multi-Versioning"',
        'MariaDB Documentation, "InnoDB Purge"',
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    history = require(
        history_list_length(system.server), "the length of the history list: the account needs PROCESS"
    )
    if history < _LONG:
        return Fine(f"{history:,.0f} transactions wait for purge")
    worst = history >= _VERY_LONG
    return finding(
        title=f"The old row versions of {history:,.0f} transactions cannot be removed",
        evidence=(f"history list length {history:,.0f}; below {_LONG:,} is usual",),
        recommendation="find the oldest open transaction and end it, or make the application commit sooner",
        changes=by_hand("look at the oldest transactions and end forgotten ones", _OLDEST),
        severity=Severity.HIGH if worst else Severity.MEDIUM,
        effect=better("latency", "large" if worst else "medium"),
    )
