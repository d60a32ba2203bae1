"""Whether InnoDB's temporary tablespace can fill the disk.

What is in the file (ibtmp1) differs. In MySQL 5.7 it is every temporary table on disk: those of CREATE
TEMPORARY TABLE and, with internal_tmp_disk_storage_engine = INNODB, its default, those that a GROUP BY
needs; it shrinks only at a restart. Since MySQL 8.0.13 sessions have their own tablespaces, which are freed
when they end. In MariaDB it is only what CREATE TEMPORARY TABLE makes with InnoDB: what a GROUP BY needs is
an Aria table in tmpdir, which tmp_disk_table_size bounds, and from 11.5 on max_tmp_session_space_usage and
max_tmp_total_space_usage. MariaDB's file shrinks at a restart, and from 11.3 on at SET GLOBAL
innodb_truncate_temporary_tablespace_now = 1.

A file without a limit can take the space that the redo log and the tables need. With a limit (`:max:`) only
the statement that needs more fails. The right limit depends on the statements, so the change is left to
you.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_temp_data_file_path"
_TRUNCATE = "innodb_truncate_temporary_tablespace_now"
_CREATED = "Com_create_temporary_table"
_SHARE = 4
"""Of the free space: a quarter."""


@Rule(
    checks="whether innodb_temp_data_file_path has a limit, where temporary tables are kept in that file",
    why="A full disk stops the whole server; a failed query does not.",
    expected="only a statement that needs too much fails, and the disk does not fill up",
    risk="statements that need more temporary space than that fail",
    sources=(
        'MySQL 5.7 Reference Manual, "The Temporary Tablespace"',
        'MySQL Reference Manual, "Temporary Tablespaces"',
        'MariaDB Documentation, "InnoDB Temporary Tablespaces"',
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.text(_NAME), NotHere("this release has no temporary tablespace"))
    if is_mysql(server.release, (8, 0, 13)):
        return NotHere("sessions have their own temporary tablespaces since MySQL 8.0.13")
    if "autoextend" not in now.casefold() or ":max:" in now.casefold():
        return Fine(f"{_NAME} is {now}")
    created = server.counter(_CREATED)
    if server.release.is_mariadb and created == 0:
        return Fine(f"no session has created an InnoDB temporary table {uptime(server)} ({_CREATED} = 0)")
    free = free_bytes(system, "data")
    bound = "10G" if free is None else _bound(free)
    return finding(
        title="InnoDB temporary tables can fill the disk",
        evidence=(
            f"{_NAME} = {now}: no limit",
            _contents(server, created),
            f"{format_bytes(free)} are free / {_SHARE} = {bound}" if free is not None else None,
            _shrinking(server),
        ),
        recommendation=f"limit it: {_NAME} = {now}:max:{bound}",
        changes=by_hand(f"write {_NAME} = {now}:max:{bound} into the option file and restart"),
        effect=better("stability", "small"),
        restart=True,
    )


def _bound(free: int) -> str:
    part = free // _SHARE
    return f"{part // GIB}G" if part >= GIB else f"{max(part // MIB, 12)}M"


def _contents(server: Server, created: float | None) -> str:
    if server.release.is_mariadb:
        counted = "" if created is None else f" ({_CREATED} = {created:.0f} {uptime(server)})"
        return f"it holds the tables of CREATE TEMPORARY TABLE{counted}; those of a GROUP BY are in tmpdir"
    if (server.text("internal_tmp_disk_storage_engine") or "innodb").casefold() == "innodb":
        return "it holds the tables of CREATE TEMPORARY TABLE and those that a GROUP BY or a sort needs"
    return "it holds the tables of CREATE TEMPORARY TABLE; those of a GROUP BY are in tmpdir"


def _shrinking(server: Server) -> str:
    if server.has(_TRUNCATE):
        return f"SET GLOBAL {_TRUNCATE} = 1 frees unused space"
    return "it shrinks only when the server restarts"
