"""How many open files the server requests.

Connections, tables, InnoDB's files, logs and temporary files all use one. At its start the server requests
what it calculates (10 + max_connections + 2 x table_open_cache) or open_files_limit, whichever is more, and
gets at most its hard limit; when it gets less it silently lowers max_connections and table_open_cache. At
the limit it cannot open tables (error 24) or take connections. Under systemd the hard limit is the unit's
LimitNOFILE=, which another rule checks: limits.conf and ulimit in a shell do not apply to a service.
"""

from mydyno.advisor.rules import *

_NAME = "open_files_limit"
_FULL = 0.85


@Rule(
    checks="open_files_limit compared with what connections, tables and InnoDB's files need",
    why="At the limit the server can neither open a table nor accept a connection.",
    expected="tables can be opened and clients accepted at the peak (no error 24); no effect on speed",
    sources=(
        "MySQL Reference Manual, Server System Variables, open_files_limit; File Not Found",
        "MariaDB Documentation, Server System Variables, open_files_limit",
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: 65536 files",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    wanted = require(targets.open_files, "how many files the server needs")
    process = system.host.process if system.host else None
    held = process.open_files if process else None
    if wanted <= now:
        return Fine(f"{now} files are allowed, {wanted} are needed at most")
    full = held is not None and held >= _FULL * now
    open_now = f", {held} are open now" if held is not None else ""
    return finding(
        title=f"The server may need {wanted} files and may open {now}",
        evidence=(*targets.open_files_lines, f"{_NAME} = {now}{open_now}"),
        recommendation=f"set {_NAME} to {wanted} (and the unit's LimitNOFILE no lower)",
        changes=settings(server, {_NAME: wanted}),
        severity=Severity.CRITICAL if full else Severity.LOW,
        effect=better("stability", "large" if full else "small"),
        restart=True,
    )
