"""Attempts to connect that failed.

Aborted_connects counts wrong passwords, missing rights, broken handshakes, handshakes slower than
connect_timeout and packets that are none. Each costs a thread and a look into the grants, and each may be
somebody who guesses. The error log names account and address when log_error_verbosity is 3 (MySQL), or
log_warnings is above 1 (MariaDB, MySQL 5.6). MySQL's Connection_errors_... tell the server's own reasons
apart.
"""

from mydyno.advisor.rules import *

_SHARE = 0.05
_MANY = 100


def _judge(system: System, _: Targets) -> Judgement:
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
    return RULE.finding(
        title=f"{part:.0%} of all attempts to connect fail",
        evidence=(f"{aborted:.0f} of {tried:.0f} {uptime(server)}, {rate * 3600:.0f} an hour", *own),
        recommendation=f"let the error log name them ({logs}), then mend the client or its probe",
        changes=by_hand("look in the error log for who fails to connect, and why", f"SET GLOBAL {logs};"),
        severity=Severity.MEDIUM if part >= 0.5 else Severity.LOW,
        effect=better("insight", "small", "a broken client or an attacker is known"),
    )


RULE = Rule(
    checks="Aborted_connects against Connections",
    why="Failed attempts are broken clients, probes that break off, or somebody who guesses passwords.",
    expected="insight; where they are many, some CPU",
    sources=(
        "MySQL Reference Manual, Communication Errors and Aborted Connections",
        "MariaDB Documentation, Server Status Variables, Aborted_connects",
    ),
    judge=_judge,
)
