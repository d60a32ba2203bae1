"""Findings and advice with the changes that a test is about."""

from __future__ import annotations

from pathlib import Path

from mydyno.advisor import Advice
from mydyno.apply.change import (
    ByHand,
    Change,
    RemoveVariable,
    SetMountOptions,
    SetQueue,
    SetSysctl,
    SetSysfs,
    SetUnit,
    SetVariable,
)
from mydyno.apply.finding import Effect, Finding, Severity

SERVER = "MariaDB 10.11.19 at /run/mysqld/mysqld.sock"


def finding(rule: str, *changes: Change) -> Finding:
    return Finding(
        rule=rule,
        title=f"something about {rule}",
        evidence=("1 = 1",),
        recommendation="change it",
        changes=changes,
        severity=Severity.LOW,
        effect=Effect(aspect="throughput", direction="better", size="small", says="a bit faster"),
    )


def every_kind() -> tuple[Finding, ...]:
    """One finding for each kind of change, all of which fit `tree.make_system`."""
    return (
        finding("swappiness", SetSysctl(name="vm.swappiness", value="1", was="60")),
        finding(
            "io-capacity",
            SetVariable(name="innodb_io_capacity", value="2000", was="100", restart=False),
            SetVariable(name="innodb_log_file_size", value="1G", was="100663296", restart=True),
        ),
        finding(
            "query-cache",
            RemoveVariable(
                name="query_cache_size", file="/etc/mysql/mariadb.conf.d/50-server.cnf", line=4, was="16M"
            ),
        ),
        finding(
            "atime",
            SetMountOptions(mount_point="/var/lib/mysql", add=("noatime",), remove=("relatime",), was=None),
        ),
        finding("open-files", SetUnit(unit="mariadb.service", name="LimitNOFILE", value="65535", was="1024")),
        finding(
            "huge-pages",
            SetSysfs(path="/sys/kernel/mm/transparent_hugepage/enabled", value="madvise", was="always"),
        ),
        finding("scheduler", SetQueue(disk="sda", attribute="scheduler", value="none", was="bfq")),
        finding("no-key", ByHand(says="give t a key", commands=("ALTER TABLE t ADD PRIMARY KEY (a)",))),
    )


def advice(*findings: Finding) -> Advice:
    return Advice(
        mydyno="0.1.0",
        made_at="2026-11-21T20:00:00+00:00",
        server=SERVER,
        findings=findings,
        silent=(),
        unread=(),
    )


def advice_file(path: Path, *findings: Finding) -> Path:
    path.write_text(advice(*findings).to_json())
    return path
