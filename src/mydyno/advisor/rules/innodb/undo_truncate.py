"""Whether undo tablespaces can shrink.

One long transaction can make undo grow by many gigabytes. MySQL truncates a tablespace above
innodb_max_undo_log_size while another takes over, which needs two of them; on by default since 8.0.2. In
MySQL 5.7 it works where the data directory was made with innodb_undo_tablespaces of 2 or more. MariaDB's
default is off, which is left alone.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_undo_log_truncate"
_LEAST = 2


@Rule(
    checks="innodb_undo_log_truncate and the number of undo tablespaces",
    why="Undo grows with the longest transaction and does not shrink.",
    expected="disk space back",
    risk="while a tablespace is truncated, transactions share the others",
    sources=('MySQL Reference Manual, "Undo Tablespaces", truncating',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    fine_if(server, _NAME, True, NotHere("this release cannot truncate undo tablespaces"))
    if server.release.is_mariadb:
        return NotHere("MariaDB's own default is OFF")
    files = server.number("innodb_undo_tablespaces")
    if files is not None and files < _LEAST:
        return NotHere(f"{files} undo tablespaces: truncating one needs another that takes over")
    return finding(
        title="Undo that grew with a long transaction never shrinks",
        evidence=(f"{_NAME} = OFF; the default is ON since MySQL 8.0.2",),
        recommendation=f"set {_NAME} to ON",
        changes=settings(server, {_NAME: "ON"}),
        effect=better("disk space", "small"),
    )
