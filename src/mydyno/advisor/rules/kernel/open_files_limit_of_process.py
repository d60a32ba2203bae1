"""How many files the server's process may have open.

Each connection is a file handle, each open table one or two. When they are used up, new connections are
refused and tables fail to open; the server knows that at its start and silently lowers table_open_cache and
max_connections to fit. It raises its own limit up to the hard limit, so that one counts. A service has its
hard limit from LimitNOFILE= of its unit: limits.conf applies to logins, `ulimit` in rc.local to that shell,
and neither to a service.
"""

from mydyno.advisor.rules import *

_LEAST = 32768


@Rule(
    checks="the open files limit of the running process compared with what connections and tables need",
    why="At the limit connections are refused and tables fail to open; below what its settings need, the "
    "server lowers table_open_cache and max_connections by itself.",
    expected="connections and tables are not refused, and the server does not shrink its caches to fit",
    sources=(
        "MySQL Reference Manual, File Not Found and Similar Errors; How MySQL Opens and Closes Tables",
        "MariaDB Server Documentation, Configuring MariaDB for systemd, open files limit",
        "systemd.exec(5), Process Properties, LimitNOFILE=",
        "Microsoft Azure documentation, Optimize MySQL Performance on Azure Linux VMs (limits.conf)",
    ),
)
def rule(system: System, targets: Targets) -> Judgement:
    limit, unit, need = limit_of(system, "Max open files"), unit_of(system), targets.open_files
    if limit is None:
        return Unknown("the limits of the server's process")
    if need is None:
        return Unknown("how many files the server needs")
    opened = system.host.process.open_files if system.host and system.host.process else None
    numbers = f"the server may need {need} files" + (f", has {opened} open" if opened is not None else "")
    most = "no bound" if limit.hard is None else str(limit.hard)
    if limit.hard is None or limit.hard >= need:
        return Fine(f"{numbers}; it may have {most}")
    if unit and _planned(unit) >= need:
        return Fine(f"{numbers}; {unit.name} gives {unit.properties['LimitNOFILE']} from the next start on")
    wanted = max(_LEAST, power_of_two(need))
    change: Change = ByHand(says=f"raise `ulimit -n` to {wanted} (hard and soft) where the server is started")
    if unit:
        change = set_unit(unit, "LimitNOFILE", str(wanted))
    refused = system.server.counter("Connection_errors_accept") or 0
    close = opened is not None and opened > limit.hard * 0.9
    return finding(
        title=f"The server may open {limit.hard} files and needs up to {need}",
        evidence=(
            f"{numbers}; Max open files: soft {limit.soft}, hard {most}",
            f"{refused:.0f} connections could not be accepted" if refused else None,
        ),
        recommendation=change.sentence(),
        changes=(change,),
        severity=Severity.CRITICAL if close else Severity.HIGH,
        effect=better("stability", "large" if close else "medium"),
        restart=True,
    )


def _planned(unit: Unit) -> float:
    """The limit that the unit will give; 0 where it says none."""
    text = unit.properties.get("LimitNOFILE", "").split(":")[-1]
    return float("inf") if text == "infinity" else float(text) if text.isdigit() else 0.0
