"""Whether transactions wait for space in the log buffer.

Redo collects in the log buffer until a commit writes it. A transaction that makes more redo than fits must
write before it goes on (Innodb_log_waits). As long as that counter does not grow, a larger buffer has no
effect: 128M, as some guides advise for any server, is memory that the buffer pool could have.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_log_buffer_size"
_COUNTER = "Innodb_log_waits"
_OFTEN = 1.0


@Rule(
    checks="innodb_log_buffer_size compared with Innodb_log_waits",
    why="A transaction that fills the log buffer must write it before it goes on.",
    expected="fewer pauses in large transactions",
    sources=(
        'MySQL Reference Manual, "Optimizing InnoDB Redo Logging" and "Server Status Variables"',
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: raise it when Innodb_log_waits is not 0",
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now, waits, wanted = server.number(_NAME), server.counter(_COUNTER), targets.log_buffer_bytes
    if now is None or waits is None or wanted is None:
        return Unknown(f"{_NAME}, {_COUNTER}")
    changes = settings(server, {_NAME: size_text(wanted)}) if wanted > now else ()
    if not changes:
        return Fine(f"{format_bytes(now)}; {waits:,.0f} transactions have waited for space since the start")
    rate = often(server, _COUNTER) or 0.0
    return finding(
        title=f"Transactions wait for space in a log buffer of {format_bytes(now)}",
        evidence=(*targets.log_buffer_lines, f"{_COUNTER}: {a_second(rate)}"),
        recommendation=f"set {_NAME} to {format_bytes(wanted)}",
        changes=changes,
        severity=Severity.MEDIUM if rate >= _OFTEN else Severity.LOW,
        effect=better("latency", "medium" if rate >= _OFTEN else "small"),
    )
