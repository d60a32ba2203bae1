"""What the server's control group lets it have: memory, CPUs; its systemd unit. Pure but for the reading.

Linux, admin-guide/cgroup-v2.rst (memory.max, cpu.max) and cgroup-v1/memory.rst: the tightest limit on the way
up counts.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mydyno.survey.host.machine import Machine

_ROOT = "/sys/fs/cgroup"
_CONTAINER = re.compile(r"docker|kubepods|containerd|libpod|crio|lxc|machine\.slice")
_UNLIMITED_V1 = 1 << 60
"""Version 1 writes the largest number of pages for no limit."""


@dataclass(frozen=True)
class Group:
    """From /proc/PID/cgroup."""

    memory_limit: int | None
    cpus: float | None
    unit: str | None
    """The service that it lies in."""
    container: bool
    """Whether its name is one that container engines give."""


def read_group(machine: Machine, cgroup: str) -> Group:
    """`cgroup`: the text of the process's file of that name."""
    paths = _paths(cgroup)
    v2, memory, cpu = (paths.get(controller) for controller in ("", "memory", "cpu"))
    # Where version 1 and 2 are mixed, systemd's own tree has the unit.
    names = " ".join(filter(None, (v2, memory, paths.get("name=systemd"))))
    unit = next((part for part in reversed(names.split("/")) if part.endswith(".service")), None)
    limits = [
        *_numbers(machine, v2, "", "memory.max"),
        *_numbers(machine, memory, "/memory", "memory.limit_in_bytes"),
    ]
    return Group(
        memory_limit=min((limit for limit in limits if limit < _UNLIMITED_V1), default=None),
        cpus=min([*_quotas_v2(machine, v2), *_quotas_v1(machine, cpu)], default=None),
        unit=unit.split(" ")[0] if unit else None,
        container=_CONTAINER.search(names) is not None,
    )


def _paths(cgroup: str) -> dict[str, str]:
    """Controller -> path; version 2 has no name."""
    lines = (line.split(":", 2) for line in cgroup.splitlines())
    return {controller: path for _, controllers, path in lines for controller in controllers.split(",")}


def _upwards(path: str | None) -> Iterator[str]:
    while path is not None and path != "/":
        yield path
        path = posixpath.dirname(path)
    if path == "/":
        # A container has its own group as the root.
        yield ""


def _texts(machine: Machine, path: str | None, controller: str, file: str) -> Iterator[str]:
    paths = [f"{_ROOT}{controller}{folder}/{file}" for folder in _upwards(path)]
    machine.fetch(paths)
    yield from (text.strip() for each in paths if (text := machine.read_text(each)) is not None)


def _numbers(machine: Machine, path: str | None, controller: str, file: str) -> Iterator[int]:
    yield from (int(text) for text in _texts(machine, path, controller, file) if text.isdigit())


def _quotas_v2(machine: Machine, path: str | None) -> Iterator[float]:
    """`200000 100000` is two CPUs."""
    for text in _texts(machine, path, "", "cpu.max"):
        words = text.split()
        if len(words) == 2 and all(word.isdigit() for word in words):
            yield int(words[0]) / int(words[1])


def _quotas_v1(machine: Machine, path: str | None) -> Iterator[float]:
    quotas = _numbers(machine, path, "/cpu", "cpu.cfs_quota_us")
    periods = _numbers(machine, path, "/cpu", "cpu.cfs_period_us")
    yield from (quota / period for quota, period in zip(quotas, periods, strict=False) if quota > 0)
