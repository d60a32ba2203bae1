"""Whether transactions wait for room in the log buffer, or it is larger than anybody uses.

Redo gathers in the log buffer until a commit writes it. A transaction that makes more redo than fits must
write before it goes on (Innodb_log_waits). As long as that counter does not move, a larger buffer brings
nothing, and 128M of it, as some guides advise, is memory that the buffer pool could have.
"""

from __future__ import annotations

from mydyno.advise.finding import Effect, Finding, Severity
from mydyno.advise.innodb import MIB
from mydyno.advise.rule import Fine, Judgement, Rule, Unknown
from mydyno.advise.setting import settings
from mydyno.advise.targets import Targets
from mydyno.catalogue.convert import size_text
from mydyno.core.units import format_bytes
from mydyno.facts import System

_NAME = "innodb_log_buffer_size"
_COUNTER = "Innodb_log_waits"
_LARGE = 64 * MIB
"""MySQL 8.4's default; up to here nothing is said."""


def _judge(system: System, targets: Targets) -> Judgement:
    server = system.server
    now, waits, wanted = server.number(_NAME), server.counter(_COUNTER), targets.log_buffer_bytes
    if now is None or waits is None or wanted is None:
        return Unknown(f"{_NAME}, {_COUNTER}")
    rate = server.rate(_COUNTER) or 0.0
    waited = rate > 0 or waits > 0
    small, large = waited and wanted > now, not waited and now > max(_LARGE, 2 * wanted)
    changes = settings(server, {_NAME: size_text(wanted)}) if small or large else ()
    if not changes:
        return Fine(f"{format_bytes(now)}; {waits:,.0f} transactions have waited for room since the start")
    return Finding(
        rule=RULE.id,
        title=f"Transactions wait for room in a log buffer of {format_bytes(now)}"
        if small
        else f"The log buffer of {format_bytes(now)} is larger than anybody uses",
        evidence=(f"{_COUNTER} = {waits:,.0f} since the start, {rate:,.2g}/s now",),
        recommendation=f"set {_NAME} to {format_bytes(wanted)}",
        changes=changes,
        severity=Severity.MEDIUM if small and rate > 0 else Severity.LOW,
        effect=Effect(
            aspect="latency" if small else "memory",
            direction="better",
            size="medium" if rate >= 1 else "small",
            says="large transactions do not stop to write redo"
            if small
            else f"{format_bytes(now - wanted)} for something else",
        ),
        restart=any(change.restart for change in changes),
    )


RULE = Rule(
    id="log-buffer",
    layer="redo log",
    checks="innodb_log_buffer_size against Innodb_log_waits",
    why="A transaction that fills the log buffer must write it before it goes on.",
    expected="fewer pauses in large transactions, or some memory back",
    durability="none",
    risk="none known",
    sources=(
        'MySQL Reference Manual, "Optimizing InnoDB Redo Logging" and "Server Status Variables"',
        "seed guide 000: raise it when Innodb_log_waits is not 0",
    ),
    judge=_judge,
    variables=(_NAME,),
)
