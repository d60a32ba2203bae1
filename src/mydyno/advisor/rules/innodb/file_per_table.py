"""Whether each table has its own file.

In the shared tablespace, space of dropped or rebuilt tables is never returned to the file system, and one
file only grows. With a file for each table OPTIMIZE TABLE and DROP TABLE free their space, and tables can
be copied and compressed one by one. On by default since MySQL 5.6.6; MariaDB 11.0 deprecates the choice. It
applies to new tables.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_file_per_table"


@Rule(
    checks="innodb_file_per_table",
    why="The shared tablespace only grows.",
    expected="dropped and rebuilt tables return their space; no effect on speed",
    risk="a file for each table needs more open files: see the limits",
    sources=(
        'MySQL Reference Manual, "File-Per-Table Tablespaces"',
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: on by default since 5.6",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    fine_if(system.server, _NAME, True)
    rebuild = ByHand(
        says="rebuild each table that should move out of the shared tablespace, one by one",
        commands=("ALTER TABLE schema_name.table_name ENGINE=InnoDB",),
    )
    return finding(
        title="New tables go into one file that never shrinks",
        evidence=(f"{_NAME} = OFF",),
        recommendation=f"set {_NAME} to ON, and rebuild the tables whose space should be returned",
        changes=(*settings(system.server, {_NAME: "ON"}), rebuild),
        severity=Severity.MEDIUM,
        effect=better("disk space", "medium"),
    )
