"""Systems to advise on: a plain one, with what a test is about in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mydyno.survey.facts import Cpu, Host, Kernel, Memory, Process, Role, Server, Status, System, Variable

GIB = 1 << 30

MARIADB = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)"
MYSQL_84 = "mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)"
MYSQL_57 = "mysqld  Ver 5.7.44 for Linux on x86_64 (MySQL Community Server (GPL))"


def variable(value: str, **known: Any) -> Variable:
    return Variable(value=value, **{"dynamic": True, **known})


def a_role(**known: Any) -> Role:
    """Known in all: alone but for what is said."""
    return Role(**{"replica": False, "source": False, "galera": False, "group_replication": False, **known})


def server(
    version: str = MARIADB,
    variables: Mapping[str, str | Variable] | None = None,
    status: Mapping[str, float] | None = None,
    before: Mapping[str, float] | None = None,
    seconds: float = 60.0,
    **more: Any,
) -> Server:
    """A server with these variables; `status` is its state at the end, `before` what differed before."""
    after = {"Uptime": 864_000.0, **(status or {})}
    earlier = {**after, "Uptime": after["Uptime"] - seconds, **(before or {})}
    return Server(
        version=version,
        variables={
            name: found if isinstance(found, Variable) else variable(found)
            for name, found in (variables or {}).items()
        },
        status=Status(
            before={name: f"{value:g}" if value % 1 else str(int(value)) for name, value in earlier.items()},
            after={name: f"{value:g}" if value % 1 else str(int(value)) for name, value in after.items()},
            seconds=seconds,
        ),
        **{"role": a_role(), "address": "/run/mysqld/mysqld.sock", **more},
    )


def host(
    memory: int = 16 * GIB, cpus: int = 4, sysctls: Mapping[str, str] | None = None, **more: Any
) -> Host:
    """A machine on which the server has all memory that is in use."""
    found = more.pop("memory_facts", None) or Memory(total=memory, available=memory // 2, swap_total=0)
    in_use = found.total - (found.available or 0)
    return Host(
        cpu=Cpu(count=cpus),
        memory=found,
        kernel=more.pop("kernel", None) or Kernel(release="6.1.0", sysctls=dict(sysctls or {})),
        **{"container": False, "systemd": True, "process": Process(pid=1, resident_bytes=in_use), **more},
    )


def system(the_server: Server | None = None, the_host: Host | None = None, **more: Any) -> System:
    return System(
        mydyno="0.1.0",
        read_at="2026-11-21T00:00:00Z",
        server=the_server or server(),
        host=the_host or host(),
        **more,
    )
