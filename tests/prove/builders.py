"""Advice to put to the test: findings with one change each, by default."""

from __future__ import annotations

from typing import Any

from mydyno.advisor.advice import Advice
from mydyno.apply.change import Change, SetVariable
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.core.facts import HostFacts

GIB = 1 << 30
HERE = HostFacts(memory_bytes=8 * GIB, cpus=2, free_disk_bytes=100 * GIB)


def variable(name: str, value: str, was: str | None, restart: bool = False) -> SetVariable:
    return SetVariable(name=name, value=value, was=was, restart=restart)


def finding(rule: str, *changes: Change, says: str = "fewer disk reads", **more: Any) -> Finding:
    effect = {"aspect": "throughput", "direction": "better", "size": "large", "says": says}
    effect |= {key: more.pop(key) for key in ("aspect", "direction", "size") if key in more}
    return Finding(
        rule=rule,
        title=f"{rule} is not as it should be",
        evidence=("a number",),
        recommendation="as the changes say",
        changes=changes,
        severity=Severity.MEDIUM,
        effect=Effect.model_validate(effect),
        **more,
    )


POOL = finding("buffer-pool", variable("innodb_buffer_pool_size", "4G", "134217728"))
THREADS = finding(
    "thread-cache", variable("thread_cache_size", "32", "8"), size="small", says="fewer threads are made"
)
SYNC = finding(
    "flush-at-commit",
    variable("innodb_flush_log_at_trx_commit", "1", "2"),
    direction="worse",
    durability="raises",
    durability_says="commits survive a crash of the operating system",
    says="each commit waits for the disk",
)


def advice(*findings: Finding, server: str = "MariaDB 10.11.19 at /run/mysqld/mysqld.sock") -> Advice:
    return Advice(
        mydyno="0.1.0",
        made_at="2026-11-21T00:00:00Z",
        server=server,
        findings=findings,
        silent=(),
        unread=(),
    )
