"""Whether corrupt MyISAM tables are repaired when they are opened.

After a crash the first statement on a MyISAM table that was being written fails with error 145 until REPAIR
TABLE is run. With myisam_recover_options = BACKUP,FORCE the server does it by itself and keeps a copy of
the data file when rows were lost. Moving the tables to InnoDB is better.
"""

from mydyno.advisor.rules import *

_NAME = "myisam_recover_options"


@Rule(
    checks="myisam_recover_options where there are MyISAM tables",
    why="A corrupt table refuses every statement until it is repaired.",
    expected="corrupt tables are repaired automatically, as far as possible",
    durability="none: corrupted rows may be lost with or without it",
    risk="a repair of a large table runs at its first use",
    sources=(
        "MySQL Reference Manual, Server Command Options, myisam-recover-options; MyISAM Startup Options",
        "MariaDB Documentation, MyISAM System Variables, myisam_recover_options",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    schema, now = server.schema_facts, server.text(_NAME)
    if schema is None or schema.tables_by_engine is None or now is None:
        return Unknown(f"{_NAME} or the schema")
    if not schema.tables_by_engine.get("MyISAM"):
        return NotHere("no user table is MyISAM")
    if now.upper() not in ("", "OFF"):
        return Fine(f"{_NAME} is {now}")
    return finding(
        title="MyISAM tables corrupted by a crash stay unusable until they are repaired",
        evidence=(f"{_NAME} = {now or 'empty'}, {schema.tables_by_engine['MyISAM']} tables are MyISAM",),
        recommendation=f"set {_NAME} = BACKUP,FORCE until the tables are InnoDB (rule myisam-tables)",
        changes=settings(server, {_NAME: "BACKUP,FORCE"}),
        effect=better("stability", "small"),
        restart=True,
    )
