"""Whether transactions wait for room in the log buffer.

Redo gathers in the log buffer until a commit writes it. A transaction that makes more redo than fits must
write before it goes on (Innodb_log_waits). As long as that counter does not move, a larger buffer brings
nothing: 128M, as some guides advise for any server, is memory that the buffer pool could have.
"""

from __future__ import annotations

from mydyno.advisor.counts import a_second, often
from mydyno.advisor.rule import Fine, Judgement, Rule, Unknown
from mydyno.advisor.setting import settings
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.core.units import format_bytes
from mydyno.server.variables.convert import size_text
from mydyno.survey.facts import System

_NAME = "innodb_log_buffer_size"
_COUNTER = "Innodb_log_waits"
_OFTEN = 1.0


def _judge(system: System, targets: Targets) -> Judgement:
    server = system.server
    now, waits, wanted = server.number(_NAME), server.counter(_COUNTER), targets.log_buffer_bytes
    if now is None or waits is None or wanted is None:
        return Unknown(f"{_NAME}, {_COUNTER}")
    changes = settings(server, {_NAME: size_text(wanted)}) if wanted > now else ()
    if not changes:
        return Fine(f"{format_bytes(now)}; {waits:,.0f} transactions have waited for room since the start")
    rate = often(server, _COUNTER) or 0.0
    return Finding(
        rule=RULE.id,
        title=f"Transactions wait for room in a log buffer of {format_bytes(now)}",
        evidence=(*targets.log_buffer_lines, f"{_COUNTER}: {a_second(rate)}"),
        recommendation=f"set {_NAME} to {format_bytes(wanted)}",
        changes=changes,
        severity=Severity.MEDIUM if rate >= _OFTEN else Severity.LOW,
        effect=Effect(
            aspect="latency",
            direction="better",
            size="medium" if rate >= _OFTEN else "small",
            says="large transactions do not stop to write redo",
        ),
        restart=any(change.restart for change in changes),
    )


RULE = Rule(
    id="log-buffer",
    layer="redo log",
    checks="innodb_log_buffer_size against Innodb_log_waits",
    why="A transaction that fills the log buffer must write it before it goes on.",
    expected="fewer pauses in large transactions",
    durability="none",
    risk="none known",
    sources=(
        'MySQL Reference Manual, "Optimizing InnoDB Redo Logging" and "Server Status Variables"',
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: raise it when Innodb_log_waits is not 0",
    ),
    judge=_judge,
    variables=(_NAME,),
)
