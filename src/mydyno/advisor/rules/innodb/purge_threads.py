"""Whether old versions of rows are removed fast enough.

An update leaves the old version of a row for transactions that began before; purge removes it when no
transaction can see it any more. Where purge falls behind, tables and undo grow and every read skips over
old versions. One thread (the default of MySQL 5.6, and of 8.4 on few CPUs) is usually enough: more are
advised only where the history is long and there are CPUs for them. Purge cannot overtake the oldest open
transaction, whatever its threads: see purge-lag.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_purge_threads"
_WANTED = 4
_LONG = 100_000


@Rule(
    checks="innodb_purge_threads compared with the length of the history list",
    why="Old row versions make tables larger and reads slower until they are purged.",
    expected="old row versions of several tables are removed at the same time; nothing where a transaction "
    "stays open",
    risk="purge takes more CPU",
    sources=('MySQL Reference Manual, "Purge Configuration"', 'MariaDB Documentation, "InnoDB Purge"'),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    history = require(history_list_length(server), "the length of the history list")
    cpus = system.host.cpu.count if system.host else None
    if now >= _WANTED or history < _LONG or (cpus is not None and cpus < _WANTED):
        return Fine(f"{_NAME} is {now}, {history:,.0f} transactions are in the history")
    if cpus is None:
        return Unknown("the number of CPUs")
    return finding(
        title=f"{history:,.0f} transactions wait for purge, which has {now} thread{'s' * (now > 1)}",
        evidence=(f"history list length {history:,.0f}", f"{_NAME} = {now}"),
        recommendation=f"set {_NAME} to {_WANTED}, the default of most releases",
        changes=settings(server, {_NAME: _WANTED}),
        severity=Severity.MEDIUM,
        effect=better("stability", "small"),
    )
