"""Whether every statement is written down.

The general log has each statement of each client, before it runs, under one lock: at thousands a second it
is a bottleneck, its file outgrows the data, and passwords and customers' data stand in it in the clear. It
is for minutes of study. For an audit there are plugins made for it.
"""

from __future__ import annotations

from mydyno.advisor.counts import a_second, often
from mydyno.advisor.rule import Fine, Judgement, Rule, Unknown
from mydyno.advisor.setting import settings
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.survey.facts import System

_NAME = "general_log"
_MANY = 500
"""Statements a second."""


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now, rate = server.switch(_NAME), often(server, "Questions")
    if now is None:
        return Unknown(_NAME)
    if not now:
        return Fine("it is off")
    if "NONE" in (server.text("log_output") or "").upper().split(","):
        return Fine("it is on, and log_output = NONE writes nothing")
    busy = rate is not None and rate >= _MANY
    return Finding(
        rule=RULE.id,
        title=f"Every statement is written to the general log, {a_second(rate)}",
        evidence=(
            f"{_NAME} = ON, log_output = {server.text('log_output')}",
            f"Questions grows by {a_second(rate)}",
        ),
        recommendation=f"set {_NAME} = OFF",
        changes=settings(server, {_NAME: False}),
        severity=Severity.HIGH if busy else Severity.MEDIUM,
        effect=Effect(
            aspect="throughput",
            direction="better",
            size="medium" if busy else "small",
            says="no statement waits for the log's lock, and the disk does not fill with it",
        ),
        risk="who relies on it as an audit needs an audit plugin",
    )


RULE = Rule(
    id="general-log",
    layer="logs",
    checks="general_log",
    why="It writes every statement under one lock and fills the disk.",
    expected="more throughput at high rates, and disk space",
    durability="none",
    risk="nobody can read afterwards what was asked",
    sources=(
        "MySQL Reference Manual, The General Query Log",
        "MariaDB Documentation, General Query Log",
    ),
    judge=_judge,
    variables=(_NAME,),
)
