"""Little's law: what is in flight is the rate times the time that each takes; and how busy the machine was
over a stretch: its CPUs, its disks, the server and the client. Pure.

In a closed loop every connection is either within a transaction or resting between two, so

    connections = transactions per second x (mean time of a transaction + mean rest)

whatever the distributions (Little, *A Proof for the Queuing Formula L = lambda W*, Operations Research 9,
1961; with the rest it is the interactive response time law: Lazowska, Zahorjan, Graham and Sevcik,
*Quantitative System Performance*, 1984, chapter 3). Numbers that break it are not of this load: some
connections did nothing, or times were not measured where they were spent. In an open loop what is in flight
or waits for a connection cannot be more than connections and backlog.

A transaction counts where it ends. So each connection can bring at most one transaction into the window
that began before it, and leave at most one unfinished; the law holds but for `longest / seconds` at either
side, which is exact and added to the tolerance.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mydyno.core.plurals import counted
from mydyno.lab.results.records import PhaseRecord

_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_DISK, _BUSY = "disk.", ".busy_s"


@dataclass(frozen=True)
class Utilisation:
    """Shares of all CPU time that the machine had, 0 to 1; None where /proc was not seen.

    `user` is with nice, `system` with interrupts. `iowait` is idle time while some task waited for a disk: a
    CPU that computes hides it (proc(5): "not reliable").
    """

    user: float | None
    system: float | None
    iowait: float | None
    steal: float | None
    server_cpus: float | None
    """CPUs kept busy: 1.5 is one and a half."""
    client_cpus: float | None
    disks: Mapping[str, float]
    """Device -> share of the time in which it had something to do; only those that had."""

    @property
    def busy(self) -> float | None:
        """User and system, of every process."""
        return None if self.user is None or self.system is None else self.user + self.system

    def own(self, cpus: int) -> float | None:
        """The share of `cpus` CPUs that the server and the client took; None when one of them is unknown."""
        known = [each for each in (self.server_cpus, self.client_cpus) if each is not None]
        return min(1.0, sum(known) / cpus) if known and cpus else None


def utilisation(growth: Mapping[str, float], seconds: float) -> Utilisation | None:
    """`growth`: how far the columns of samples.parquet went in `seconds`; None when no time went by."""
    if seconds <= 0:
        return None
    modes = {mode: growth.get(f"host.cpu.{mode}_s") for mode in _MODES}
    total = sum(value for value in modes.values() if value is not None)

    def share(*names: str) -> float | None:
        known = [value for name in names if (value := modes[name]) is not None]
        return sum(known) / total if known and total > 0 else None

    def cpus(process: str) -> float | None:
        user, system = (growth.get(f"{process}.cpu_{mode}_s") for mode in ("user", "system"))
        return None if user is None or system is None else (user + system) / seconds

    return Utilisation(
        user=share("user", "nice"),
        system=share("system", "irq", "softirq"),
        iowait=share("iowait"),
        steal=share("steal"),
        server_cpus=cpus("server"),
        client_cpus=cpus("client"),
        disks={
            name.removeprefix(_DISK).removesuffix(_BUSY): min(1.0, busy / seconds)
            for name, busy in growth.items()
            if name.startswith(_DISK) and name.endswith(_BUSY) and busy > 0
        },
    )


TOLERANCE = 0.1
"""Share of the connections. In 299 timed phases of real runs (1 to 64 connections, mydyno's engine and
sysbench) what was in flight was off by at most 0.34% beyond what the ends of the window explain; at 400
connections on two CPUs by 0.4%. What is missing is the time in which the client has an answer and has not
yet sent the next statement. A tenth leaves that room to grow thirtyfold, and is less than the errors that
the law is there to catch: idle connections, or a time that was left out."""
SHORTEST_S = 1.0
"""Seconds. In a shorter window one moment without a CPU for the client is more than the tolerance."""
RESTS = 3.0
"""A rest that reaches over an end of the window is counted as this many mean ones: the longest of some rests
drawn at random."""
MOST_FAILED = 0.01
"""Largest share of transactions that may have failed; the time of failed ones is not recorded, so that it
would be missing."""


@dataclass(frozen=True)
class Load:
    """What drove a phase, as far as the law needs it."""

    connections: int
    """Those that carry transactions."""
    closed: bool
    rate: float | None = None
    """Transactions per second that an open loop is to carry out."""
    rest_s: float = 0.0
    """Mean, after each transaction."""
    all_busy: bool = True
    """Every connection is busy to the end of the phase. Otherwise there is an upper bound only: connections
    that have done their share are idle, and so are those that pause for times that are not recorded."""


@dataclass(frozen=True)
class Breach:
    """How a phase breaks the law."""

    calculation: str


def breach(phase: PhaseRecord, load: Load) -> Breach | None:
    """None when the law holds, or when the phase has too few numbers to check it."""
    latency, count = phase.transaction_latency, phase.transactions
    if phase.aborted or phase.measured_from_s is None or phase.measured_to_s is None:
        return None
    seconds = phase.measured_to_s - phase.measured_from_s
    if seconds < SHORTEST_S or not count or latency.mean_ns is None or latency.max_ns is None:
        return None
    if sum(phase.errors.values()) - (phase.retries or 0) > MOST_FAILED * count:
        return None
    per_second, mean_s = count / seconds, latency.mean_ns / 1e9
    in_flight = per_second * (mean_s + load.rest_s)
    # Connections that a transaction opens are timed apart; whether it includes them depends on where it does.
    opening = next((each for each in phase.statements if each.kind == "connect"), None)
    opened = 0.0
    if opening is not None and opening.latency.mean_ns is not None:
        opened = opening.count / seconds * opening.latency.mean_ns / 1e9
    most = load.connections + (0 if load.closed else phase.backlog_max or 0)
    share = TOLERANCE + (latency.max_ns / 1e9 + RESTS * load.rest_s) / seconds
    too_many = in_flight > most * (1 + share)
    too_few = load.closed and load.all_busy and in_flight + opened < most * (1 - share)
    if not (too_many or too_few):
        return None
    each = _milliseconds(mean_s)
    if load.rest_s:
        each = f"({each} + {_milliseconds(load.rest_s)} rest)"
    waiting = "" if load.closed else f" and a backlog of {phase.backlog_max or 0}"
    rate = f"{per_second:,.0f}" if per_second >= 100 else f"{per_second:.3g}"
    return Breach(
        f"{counted(load.connections, 'connection')}{waiting}, but "
        f"{rate} transactions/s x {each} = {in_flight:,.1f} in flight"
    )


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:,.3g} ms" if seconds < 1 else f"{seconds * 1e3:,.0f} ms"
