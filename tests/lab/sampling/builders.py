"""Raw samples as the engine sends them, with only what a test cares about."""

from __future__ import annotations

import base64

import numpy as np

from mydyno.lab.load.messages import HostCounters, Interval, Sample
from mydyno.lab.sampling.histograms import HdrCounts
from mydyno.machine.proc import DiskCounters, ProcessCounters

AN_HOUR = 3_600_000_000_000


def histogram(*latencies_ns: int, times: int = 1) -> str:
    """Each latency so many times, as the engine sends it: from 1 ns to an hour, three digits."""
    counts = np.zeros(33 * 1024, np.int64)
    for latency in latencies_ns:
        doublings = max(0, latency.bit_length() - 11)
        counts[doublings * 1024 + (latency >> doublings)] += times
    return base64.b64encode(HdrCounts(3, 1, AN_HOUR, counts).encode()).decode()


def process(cpu_s: float = 0.0, rss_bytes: int = 1 << 20) -> ProcessCounters:
    return ProcessCounters(
        cpu_user_s=cpu_s * 0.75,
        cpu_system_s=cpu_s * 0.25,
        rss_bytes=rss_bytes,
        threads=3,
        voluntary_switches=10,
        involuntary_switches=None,
        read_bytes=None,
        write_bytes=4096,
    )


def cpu(idle: float = 0.0, user: float = 0.0, iowait: float = 0.0, steal: float = 0.0) -> dict[str, float]:
    modes = dict.fromkeys(("nice", "system", "irq", "softirq"), 0.0)
    return {"user": user, **modes, "idle": idle, "iowait": iowait, "steal": steal}


def sample(
    t_s: float,
    status: dict[str, str] | None = None,
    *,
    server_cpu_s: float | None = 0.0,
    client_cpu_s: float = 0.0,
    modes: dict[str, float] | None = None,
    writes: int = 0,
) -> Sample:
    return Sample(
        type="sample",
        t_ns=round(t_s * 1e9),
        status=status or {},
        server=None if server_cpu_s is None else process(server_cpu_s),
        client=process(client_cpu_s),
        host=HostCounters(
            cpu=modes or cpu(),
            context_switches=1000,
            disks={"sda": DiskCounters(reads=0, read_bytes=0, writes=writes, write_bytes=0, busy_s=0.0)},
        ),
    )


def interval(from_s: float, to_s: float, queries: int, p95_ns: int | None = 95_000) -> Interval:
    return Interval(
        type="interval",
        t_ns=round(to_s * 1e9),
        phase=0,
        from_ns=round(from_s * 1e9),
        to_ns=round(to_s * 1e9),
        queries=queries,
        transactions=queries // 2,
        errors=0,
        connections=10,
        p50_ns=p95_ns,
        p95_ns=p95_ns,
        p99_ns=p95_ns,
        max_ns=p95_ns,
        warmup=False,
    )
