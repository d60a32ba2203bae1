"""Whether servers that were driven in slices left each other alone. Pure.

Slices assume that a server which is not driven takes nothing from the one that is, and that a slice does not
depend on which server was driven before. Both are measured; what is beyond a limit is a remark that
recommends what to do. The limits are our choice: a disturbance of that size moves a ratio by less than the
equivalence margin of verdicts.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mydyno.core.percent import percent
from mydyno.core.slices import LEAST_ROUNDS
from mydyno.lab.analysis.slices import SliceFit
from mydyno.lab.results.records import Remark

CHECK = "slices"
"""Name of the check that servers do not disturb each other, which longer slices help against."""
ROUNDS = "slice-rounds"
"""Name of the check that there are slices enough, and that they are alike."""

MOST_IDLE_CPU = 0.05
"""Of the CPU time per second that the servers use while they are driven."""
MOST_IDLE_IO = 0.10
"""Of the bytes per second that the servers read or write while they are driven."""
LEAST_IDLE_IO = 1_000_000
"""Bytes per second below which no server is disturbed."""
LEAST_CARRY_OVER = 0.02
MOST_CORRELATED = 0.5
"""Autocorrelation from which on three rounds say no more than one."""
MOST_HIDDEN = 0.05
"""By how much outliers may change a rate relative to the others'."""
_STANDARD_ERRORS = 3.0

_LONGER = "use longer slices, or order: blocked"


@dataclass(frozen=True)
class Usage:
    """What a server's process used in some slices, in total."""

    seconds: float
    cpu_s: float
    read_bytes: float
    write_bytes: float


@dataclass(frozen=True)
class Idle:
    """One server: during its own slices, and during those of the others."""

    server: int
    driven: Usage
    idle: Usage


def soundness(fit: SliceFit, idle: Sequence[Idle], names: Sequence[str]) -> tuple[Remark, ...]:
    """The remarks on one phase; empty where all is within the limits. `names`: of the servers, in order."""
    disturbed = [*_idle(idle, names), *_carry_over(fit, names)]
    return (
        *(Remark(check=CHECK, message=message) for message in disturbed),
        *(Remark(check=ROUNDS, message=message) for message in (*_rounds(fit), *_hidden(fit, names))),
    )


def _idle(servers: Sequence[Idle], names: Sequence[str]) -> Iterator[str]:
    """What servers used while they were not driven."""
    busy = sum(one.driven.seconds for one in servers)
    for what, kind, most, least in (
        ("used", "cpu_s", MOST_IDLE_CPU, 0.0),
        ("read", "read_bytes", MOST_IDLE_IO, LEAST_IDLE_IO),
        ("wrote", "write_bytes", MOST_IDLE_IO, LEAST_IDLE_IO),
    ):
        driven = sum(getattr(one.driven, kind) for one in servers) / busy if busy else 0.0
        for one in servers:
            rate = getattr(one.idle, kind) / one.idle.seconds if one.idle.seconds else 0.0
            if rate <= max(most * driven, least) or not rate:
                continue
            amount = f"{rate:.2f} CPUs" if kind == "cpu_s" else f"{rate / 1e6:.1f} MB/s"
            share = (
                f" ({rate / driven:.0%} of what a driven server {what}; limit {most:.0%})" if driven else ""
            )
            yield f"{names[one.server]} {what} {amount} while another server was driven{share}: {_LONGER}"


def _carry_over(fit: SliceFit, names: Sequence[str]) -> Iterator[str]:
    carry = fit.carry_over
    if carry is None or carry.low <= 0 or carry.difference < LEAST_CARRY_OVER:
        return
    size, low, high = (percent(math.expm1(value)) for value in (carry.difference, carry.low, carry.high))
    first, second = (names[server] for server in carry.servers)
    yield (
        f"carry-over: slices after {first} are faster by {size}% (99% CI {low} to {high}) than slices after "
        f"{second}: {_LONGER}"
    )


def _rounds(fit: SliceFit) -> Iterator[str]:
    if fit.rounds < LEAST_ROUNDS:
        yield f"only {fit.rounds} rounds were measured ({LEAST_ROUNDS} needed): measure longer"
    if not fit.steady:
        yield "queries per second still change within the slices: use longer slices"
    if fit.autocorrelation is not None and fit.autocorrelation > MOST_CORRELATED:
        yield (
            f"the noise of neighbouring rounds correlates by {fit.autocorrelation:.2f} (limit "
            f"{MOST_CORRELATED}): measure longer, or use shorter slices"
        )


def _hidden(fit: SliceFit, names: Sequence[str]) -> Iterator[str]:
    """Servers with slow slices that the others do not have: their own stalls, not bursts of a neighbour."""
    changes = {
        server: math.log(mean / rate)
        for server, (mean, rate) in enumerate(zip(fit.means, fit.rates, strict=True))
        if mean and rate
    }
    for server, change in changes.items():
        error = fit.mean_errors[server]
        others = [value for other, value in changes.items() if other != server]
        if error is None or not others:
            continue
        change -= max(others)
        if -change > MOST_HIDDEN and -change > _STANDARD_ERRORS * 2 * error:
            yield (
                f"{names[server]} has slow slices that the others do not have; its rate excludes them as "
                f"outliers: with them its queries per second are {percent(-math.expm1(change))}% lower"
            )
