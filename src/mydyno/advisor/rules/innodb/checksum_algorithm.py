"""Whether corrupt pages are detected, and at what cost.

Each page carries a checksum. With `none` InnoDB writes a constant and accepts any page: a fault of the
disk, memory or a cable spreads into backups and replicas. `innodb`, the default of MySQL 5.6, costs several
times the CPU of crc32, for which processors have an instruction. Old pages stay readable under crc32, and
get the new checksum when they are next written.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_checksum_algorithm"


@Rule(
    checks="innodb_checksum_algorithm",
    why="Without checksums corruption spreads undetected; the old algorithm is slow.",
    expected="corruption that is detected, or less CPU",
    durability="none for commits; corruption is detected",
    risk="MySQL 5.6.2 and older cannot read the new checksums",
    sources=(
        'MySQL Reference Manual, "InnoDB Startup Options and System Variables", innodb_checksum_algorithm',
        'MariaDB Documentation, "InnoDB System Variables", innodb_checksum_algorithm',
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = (server.text(_NAME) or "").casefold()
    if not now:
        return Unknown(_NAME)
    blind = now.endswith("none")
    if not blind and not now.endswith("innodb"):
        return Fine(f"{_NAME} is {now}")
    return finding(
        title="Corrupt pages are not detected"
        if blind
        else "Checksums of pages cost more CPU than they need",
        evidence=(f"{_NAME} = {now}",),
        recommendation=f"set {_NAME} to crc32",
        changes=settings(server, {_NAME: "crc32"}),
        severity=Severity.HIGH if blind else Severity.LOW,
        effect=better(
            "safety" if blind else "throughput",
            "medium" if blind else "small",
            "a hardware fault is detected before it is in every backup"
            if blind
            else "less CPU for each page that is read or written",
        ),
    )
