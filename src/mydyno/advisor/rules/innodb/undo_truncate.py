"""Whether undo tablespaces that grew can shrink.

One long transaction can make undo grow by many gigabytes. MySQL shrinks a tablespace above
innodb_max_undo_log_size while another takes over, which needs two of them; on by default since 8.0.2. In
MySQL 5.7 it works where the data directory was made with innodb_undo_tablespaces of 2 or more. MariaDB
ships it off, and that is left alone.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_undo_log_truncate"
_LEAST = 2


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    on = server.switch(_NAME)
    if on is None:
        return NotHere("this release cannot shrink undo tablespaces")
    if on:
        return Fine(f"{_NAME} is ON")
    if server.release.is_mariadb:
        return NotHere("MariaDB's own default is OFF")
    files = server.number("innodb_undo_tablespaces")
    if files is not None and files < _LEAST:
        return NotHere(f"{files} undo tablespaces: shrinking one needs another that takes over")
    return RULE.finding(
        title="Undo that one long transaction made grow never shrinks",
        evidence=(f"{_NAME} = OFF; the default is ON since MySQL 8.0.2",),
        recommendation=f"set {_NAME} to ON",
        changes=settings(server, {_NAME: "ON"}),
        severity=Severity.LOW,
        effect=better("disk space", "small", "undo gives back what it no longer needs"),
        risk="while a tablespace is made small, transactions share the others",
    )


RULE = Rule(
    checks="innodb_undo_log_truncate and the number of undo tablespaces",
    why="Undo grows with the longest transaction and stays so.",
    expected="disk space back",
    risk="short pauses on busy servers while a tablespace is made small",
    sources=('MySQL Reference Manual, "Undo Tablespaces", truncating',),
    judge=_judge,
    variables=(_NAME,),
)
