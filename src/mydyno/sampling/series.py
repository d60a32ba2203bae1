"""What the raw samples say: totals, CPU shares, restarts. Pure; takes the frames of `frames`."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from mydyno.sampling.catalogue import kind

STATUS = "status."
_WITNESSES = ("status.Uptime", "status.Connections", "status.Queries")
"""Neither FLUSH STATUS nor anything else but a restart sets these back."""


@dataclass(frozen=True)
class Usage:
    """Where the CPU time went between two samples. Missing readings give None.

    `server_cpus` and `client_cpus` count CPUs kept busy (1.5: one and a half on average); the shares are of
    all CPU time that the machine had, from 0 to 1. `steal`: what the hypervisor gave to others while we
    wanted it.
    """

    seconds: float
    server_cpus: float | None
    client_cpus: float | None
    busy_share: float | None
    iowait_share: float | None
    steal_share: float | None


def restarted(samples: pl.DataFrame) -> pl.Series:
    """For each sample, whether the server restarted since the one before (False for the first).

    Seen as Uptime, Connections or Queries going back.
    """
    seen = pl.Series([False] * samples.height, dtype=pl.Boolean)
    for name in filter(samples.columns.__contains__, _WITNESSES):
        # A server on its way down and up may leave samples without an answer in between.
        fell = samples[name].forward_fill().diff() < 0
        seen = seen | fell.fill_null(value=False)
    return seen


def restarts(samples: pl.DataFrame) -> tuple[float, ...]:
    """The `t_s` of every sample that first saw the server restarted."""
    return tuple(samples.filter(restarted(samples))["t_s"])


def totals(samples: pl.DataFrame) -> dict[str, int | float]:
    """Status variables over the whole trial: growth of each counter, last value of everything else.

    A counter across a restart is left out: what it lost cannot be known. So is what has fewer than two
    readings (counters) or none.
    """
    found: dict[str, int | float] = {}
    whole = not restarts(samples)
    for column in (name for name in samples.columns if name.startswith(STATUS)):
        values = samples[column].drop_nulls()
        name = column.removeprefix(STATUS)
        if kind(name) != "counter":
            found[name] = values[-1]
        elif whole and values.len() > 1 and values[-1] >= values[0]:
            found[name] = values[-1] - values[0]
    return found


def usage(samples: pl.DataFrame, from_s: float, to_s: float) -> Usage | None:
    """CPU between the first and the last sample within [from_s, to_s]; None with fewer than two samples
    there."""
    inside = samples.filter(pl.col("t_s").is_between(from_s, to_s))
    if inside.height < 2:
        return None
    return _usage(inside.slice(0, 1), inside.slice(-1, 1))


def _usage(earlier: pl.DataFrame, later: pl.DataFrame) -> Usage:
    def growth(*columns: str) -> float | None:
        """Of the sum; None where a column is missing, unread or fell (a restart)."""
        total = 0.0
        for name in columns:
            if name not in later.columns:
                return None
            before, after = earlier[name][0], later[name][0]
            if before is None or after is None or after < before:
                return None
            total += after - before
        return total

    seconds = later["t_s"][0] - earlier["t_s"][0]
    modes = [name for name in later.columns if name.startswith("host.cpu.")]
    total = growth(*modes) if modes else None
    idle, iowait, steal = (growth(f"host.cpu.{mode}_s") for mode in ("idle", "iowait", "steal"))
    server = growth("server.cpu_user_s", "server.cpu_system_s")
    client = growth("client.cpu_user_s", "client.cpu_system_s")

    def share(part: float | None) -> float | None:
        return part / total if part is not None and total else None

    busy = None if total is None or idle is None else total - idle - (iowait or 0) - (steal or 0)
    return Usage(
        seconds=seconds,
        server_cpus=server / seconds if server is not None and seconds > 0 else None,
        client_cpus=client / seconds if client is not None and seconds > 0 else None,
        busy_share=share(busy),
        iowait_share=share(iowait),
        steal_share=share(steal),
    )
