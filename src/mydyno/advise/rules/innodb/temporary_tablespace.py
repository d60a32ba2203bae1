"""Whether one query can fill the disk by way of InnoDB's temporary tablespace.

Temporary tables of InnoDB live in a file that grows by itself and, before MariaDB 11.3, shrinks only at a
restart. One large GROUP BY can make it as large as the disk has room for; then the redo log and the tables
cannot grow either. A bound (`:max:`) lets that one query fail instead. Since MySQL 8.0.13 sessions have
tablespaces of their own, which are given back when they end.

How much is right depends on the queries, so it is recommended by hand.
"""

from __future__ import annotations

from mydyno.advise.change import ByHand
from mydyno.advise.finding import Effect, Finding, Severity
from mydyno.advise.innodb import GIB, is_mysql
from mydyno.advise.rule import Fine, Judgement, NotHere, Rule
from mydyno.advise.targets import Targets
from mydyno.core.units import format_bytes
from mydyno.facts import System

_NAME = "innodb_temp_data_file_path"
_SHARE = 4
"""Of the free space: a quarter."""


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.text(_NAME)
    if now is None:
        return NotHere("this release has no temporary tablespace")
    if is_mysql(server.release, (8, 0, 13)):
        return NotHere("sessions have temporary tablespaces of their own since MySQL 8.0.13")
    if "autoextend" not in now.casefold() or ":max:" in now.casefold():
        return Fine(f"{_NAME} is {now}")
    lies_on = system.host.storage.of("data") if system.host else None
    free = lies_on.free_bytes if lies_on else None
    bound = f"{max(free // _SHARE // GIB, 1)}G" if free is not None else "10G"
    return Finding(
        rule=RULE.id,
        title="One query can fill the disk with temporary tables",
        evidence=(
            f"{_NAME} = {now}: it grows without an end",
            *((f"{format_bytes(free)} are free / {_SHARE} = {bound}",) if free is not None else ()),
        ),
        recommendation=f"bound it: {_NAME} = {now}:max:{bound}",
        changes=(ByHand(says=f"write {_NAME} = {now}:max:{bound} into the option file and restart"),),
        severity=Severity.LOW,
        effect=Effect(
            aspect="stability",
            direction="better",
            size="small",
            says="a query that needs too much fails alone, and the disk does not fill up",
        ),
        risk="queries that need more temporary space than that fail",
        restart=True,
    )


RULE = Rule(
    id="temporary-tablespace",
    layer="InnoDB files",
    checks="whether innodb_temp_data_file_path has a bound",
    why="A full disk stops the whole server, one query that fails does not.",
    expected="no full disk by way of temporary tables",
    durability="none",
    risk="the bound may be too low for a query that is needed",
    sources=(
        'MySQL 5.7 Reference Manual, "The Temporary Tablespace"',
        'MySQL Reference Manual, "Temporary Tablespaces"',
        'MariaDB Documentation, "InnoDB Temporary Tablespaces"',
    ),
    judge=_judge,
)
