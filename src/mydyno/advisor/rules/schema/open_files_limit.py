"""How many files the server asks for.

Connections, tables, InnoDB's files, logs and temporary files all take one. The server asks the kernel for
what it counts at its start (10 + max_connections + 2 x table_open_cache) or for open_files_limit,
whichever is more, and gets at most its hard limit; when it gets less it quietly lowers max_connections and
table_open_cache. At the limit it cannot open tables (error 24) or take connections. Under systemd the hard
limit is the unit's LimitNOFILE=, which another rule looks at: limits.conf and ulimit in a shell do not
reach a service.
"""

from mydyno.advisor.rules import *

_NAME = "open_files_limit"
_FULL = 0.85


def _judge(system: System, targets: Targets) -> Judgement:
    server = system.server
    now, wanted = server.number(_NAME), targets.open_files
    if now is None or wanted is None:
        return Unknown(f"{_NAME} or what the server needs")
    process = system.host.process if system.host else None
    held = process.open_files if process else None
    if wanted <= now:
        return Fine(f"{now} files are allowed, {wanted} are needed at most")
    full = held is not None and held >= _FULL * now
    open_now = f", {held} are open now" if held is not None else ""
    return RULE.finding(
        title=f"The server may need {wanted} files and may open {now}",
        evidence=(*targets.open_files_lines, f"{_NAME} = {now}{open_now}"),
        recommendation=f"set {_NAME} to {wanted} (and the unit's LimitNOFILE no lower)",
        changes=settings(server, {_NAME: wanted}),
        severity=Severity.CRITICAL if full else Severity.LOW,
        effect=better(
            "stability",
            "large" if full else "small",
            "tables can be opened and clients taken at the peak (no error 24)",
        ),
        restart=True,
    )


RULE = Rule(
    checks="open_files_limit against what connections, tables and InnoDB's files need",
    why="Without a free file the server can neither open a table nor take a connection.",
    expected="no error 24 at peaks; no effect on speed",
    sources=(
        "MySQL Reference Manual, Server System Variables, open_files_limit; File Not Found",
        "MariaDB Documentation, Server System Variables, open_files_limit",
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: 65536 files",
    ),
    judge=_judge,
    variables=(_NAME,),
)
