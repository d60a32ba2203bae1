"""What the benchmarks share: a private server, load generators run and measured as processes, figures."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import stats

from mydyno.core.server_release import SYSTEM
from mydyno.lab.stack import (
    DataDirectoryLayer,
    DatasetLayer,
    Journal,
    RunningServer,
    ServerLayer,
    Setting,
    Site,
    Stack,
)
from mydyno.machine.local import LocalHost
from mydyno.machine.programs import find_program
from mydyno.server.releases import binary_of

DATABASE = "mydyno_bench"
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Measured:
    """One run of a load generator: CPU of the whole process, from its start to its end."""

    queries: int
    queries_per_second: float
    user_us: float
    system_us: float
    peak_bytes: int

    @property
    def cpu_us(self) -> float:
        return self.user_us + self.system_us


@contextmanager
def private_server(workload: dict[str, Any], max_connections: int) -> Iterator[RunningServer]:
    """A server with the workload's tables, in a folder that is gone afterwards."""
    with configured_server(
        workload, {"max_connections": max_connections, "innodb_buffer_pool_size": "256M"}
    ) as server:
        yield server


@contextmanager
def configured_server(
    workload: dict[str, Any], config: Mapping[str, Setting], release: str = SYSTEM
) -> Iterator[RunningServer]:
    """The same with settings of the caller's; without any it is as its makers ship it."""
    with tempfile.TemporaryDirectory(prefix="mydyno-bench-") as name:
        lab = Path(name)
        # The server runs as another user when root starts it.
        lab.chmod(0o755)
        host = LocalHost()
        binary = binary_of(release)

        def prepare(server: RunningServer) -> dict[str, Any]:
            run_engine(server, workload, [], prepare="create")
            return {}

        site = Site(lab, host, Journal(lab))
        with Stack(site) as stack:
            folder = lab / "server"
            folder.mkdir()
            built = stack.move_to(
                [
                    DatasetLayer(binary, config, contents={"workload": "bench"}, prepare=prepare),
                    DataDirectoryLayer(trial="bench"),
                    ServerLayer(binary, config, folder=folder),
                ]
            )
            yield built.of(RunningServer)


def engine_job(
    server: RunningServer, workload: dict[str, Any], phases: list[dict[str, Any]], **more: Any
) -> str:
    """A job for the engine on this server, with whatever keys the benchmark adds."""
    return json.dumps(
        {
            "protocol": 3,
            "target": {
                "socket": str(server.socket),
                "user": server.login.user,
                "password": server.login.password.reveal(),
                "database": DATABASE,
            },
            "workload": workload,
            "phases": phases,
            **more,
        }
    )


def run_engine(
    server: RunningServer, workload: dict[str, Any], phases: list[dict[str, Any]], **more: Any
) -> tuple[list[dict[str, Any]], ProcessUsage]:
    """Runs the engine to its end: its messages, and what the process used."""
    text, usage = run_measured(
        [str(find_program("mydyno-engine")), "run"], engine_job(server, workload, phases, **more)
    )
    messages = [json.loads(line) for line in text.splitlines()]
    if messages[-1]["type"] != "done" or messages[-1]["exit"] != "ok":
        raise SystemExit(f"the engine failed: {messages[-1]}")
    return messages, usage


@dataclass(frozen=True)
class ProcessUsage:
    """CPU seconds and largest resident memory of an ended process."""

    user_s: float
    system_s: float
    peak_bytes: int


def run_measured(command: Sequence[str], text: str = "") -> tuple[str, ProcessUsage]:
    """Runs a command to its end. Its peak memory is polled: `ru_maxrss` of a child begins with that
    of its parent, which is larger than the engine. Ends the benchmark when the command fails."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    peak = _Peak(process.pid)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(text)
    process.stdin.close()
    output = process.stdout.read()
    process.stdout.close()
    peak_bytes = peak.stop()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} failed with status {process.returncode}:\n{output[-2000:]}")
    return output, ProcessUsage(usage.ru_utime, usage.ru_stime, peak_bytes)


class _Peak:
    """The largest `VmHWM` of a process, read until it is told to stop."""

    def __init__(self, pid: int) -> None:
        self._status = Path(f"/proc/{pid}/status")
        self._stopped = threading.Event()
        self._bytes = 0
        self._thread = threading.Thread(target=self._follow)
        self._thread.start()

    def _follow(self) -> None:
        while not self._stopped.wait(_POLL_SECONDS):
            self._look()

    def _look(self) -> None:
        for line in self._status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                self._bytes = max(self._bytes, int(line.split()[1]) * 1024)

    def stop(self) -> int:
        self._stopped.set()
        self._thread.join()
        return self._bytes


def spread(values: Sequence[float], digits: int) -> str:
    """Median and range, as `1.25 [1.20 1.31]`."""
    low, high = min(values), max(values)
    return f"{statistics.median(values):,.{digits}f} [{low:,.{digits}f} {high:,.{digits}f}]"


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float, float]:
    """Geometric mean of the ratios of runs that were made side by side, with its 95% interval
    (Student's t on the logarithms: assumes that they are about normal). Without a second pair the
    interval is unknown: NaN."""
    logs = [math.log(our / their) for our, their in zip(ours, theirs, strict=True)]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return math.exp(mean), math.nan, math.nan
    half = stats.t.ppf(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they need to be, separated by bars so that they paste into Markdown."""
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header))]
    for row in (header, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")


def say(text: str) -> None:
    """What is going on, apart from the table."""
    print(text, file=sys.stderr, flush=True)


def machine() -> str:
    """One line about where the figures come from."""
    uname = os.uname()
    return (
        f"{len(os.sched_getaffinity(0))} CPUs, Linux {uname.release}, load average {os.getloadavg()[0]:.1f}"
    )
