"""Whether each table has a file of its own.

In the shared tablespace, what a dropped or rebuilt table leaves is never given back to the file system, and
one file grows for good. With a file for each table OPTIMIZE TABLE and DROP TABLE free their space, and
tables can be copied and compressed one by one. On by default since MySQL 5.6.6; MariaDB 11.0 deprecates the
choice. It counts for tables that are made from then on.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_file_per_table"


def _judge(system: System, _: Targets) -> Judgement:
    on = system.server.switch(_NAME)
    if on is None:
        return Unknown(_NAME)
    if on:
        return Fine(f"{_NAME} is ON")
    rebuild = ByHand(
        says="rebuild each table that should leave the shared tablespace, one by one",
        commands=("ALTER TABLE schema_name.table_name ENGINE=InnoDB",),
    )
    return RULE.finding(
        title="All new tables go into one file that never shrinks",
        evidence=(f"{_NAME} = OFF",),
        recommendation=f"set {_NAME} to ON, and rebuild the tables whose space should be given back",
        changes=(*settings(system.server, {_NAME: "ON"}), rebuild),
        severity=Severity.MEDIUM,
        effect=better("disk space", "medium", "dropped and rebuilt tables give their space back"),
        risk="a file for each table needs open files: see the limits",
    )


RULE = Rule(
    checks="innodb_file_per_table",
    why="The shared tablespace only grows.",
    expected="space that comes back; no change of speed",
    risk="more open files",
    sources=(
        'MySQL Reference Manual, "File-Per-Table Tablespaces"',
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: on by default since 5.6",
    ),
    judge=_judge,
    variables=(_NAME,),
)
