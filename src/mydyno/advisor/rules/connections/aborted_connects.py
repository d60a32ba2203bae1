"""Failed attempts to connect.

Aborted_connects counts wrong passwords, missing rights, broken handshakes, handshakes slower than
connect_timeout and malformed packets. Each costs a thread and a lookup in the grant tables, and each may be
an attempt to guess a password. The error log names account and address when log_error_verbosity is 3
(MySQL), or log_warnings is above 1 (MariaDB, MySQL 5.6). MySQL's Connection_errors_... counters separate
the server's own reasons.
"""

from mydyno.advisor.rules import *

_SHARE = 0.05
_MANY = 100


@Rule(
    checks="Aborted_connects compared with Connections",
    why="Failed attempts come from broken clients, interrupted probes or password guessing.",
    expected="broken clients and attackers are identified; where they are many, some CPU is freed",
    sources=(
        "MySQL Reference Manual, Communication Errors and Aborted Connections",
        "MariaDB Documentation, Server Status Variables, Aborted_connects",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    aborted, tried = server.counter("Aborted_connects"), server.counter("Connections")
    part = share(aborted, tried)
    if aborted is None or tried is None or part is None:
        return Unknown("Aborted_connects or Connections")
    if part < _SHARE or aborted < _MANY:
        return Fine(f"{aborted:.0f} of {tried:.0f} attempts to connect failed {uptime(server)}")
    own = [
        f"{name} = {count:.0f}"
        for name in ("internal", "peer_address", "select", "tcpwrap", "accept")
        if (count := server.counter(f"Connection_errors_{name}"))
    ]
    logs = "log_error_verbosity = 3" if server.has("log_error_verbosity") else "log_warnings = 2"
    rate = often(server, "Aborted_connects") or 0
    return finding(
        title=f"{part:.0%} of all attempts to connect fail",
        evidence=(f"{aborted:.0f} of {tried:.0f} {uptime(server)}, {rate * 3600:.0f} an hour", *own),
        recommendation=f"let the error log name them ({logs}), then fix the client or its probe",
        changes=by_hand("look in the error log for who fails to connect, and why", f"SET GLOBAL {logs};"),
        severity=Severity.MEDIUM if part >= 0.5 else Severity.LOW,
        effect=better("insight", "small"),
    )
