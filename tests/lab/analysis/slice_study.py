"""Simulated slices of which the truth is known, and experiments of several starts made of them.

    cd tests && python -m lab.analysis.slice_study        (minutes; tables of docs/reference/statistics.md)

A start is one block: two fresh servers, 80 rounds of slices of half a second. Its fit comes from the code
that fits yours, and so does the interval over the starts. Starts of a machine are simulated once, and
experiments draw from them; each start counts in both directions, since which server is the first is a name.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mydyno.lab.analysis.bootstrap import LEVEL
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND
from mydyno.lab.analysis.ratio import ratio_of_logs
from mydyno.lab.analysis.slices import PARTS, Slice, fit
from mydyno.lab.analysis.verdict import Side, judge

Numbers = NDArray[np.float64]
Method = Callable[[Numbers, Numbers], tuple[float, float]]
"""An interval from the log ratios of the starts and their standard errors from the slices."""

PLANTED = math.log(1.05)


@dataclass(frozen=True)
class Machine:
    """What disturbs slices. Amounts are on logarithms."""

    noise: float = 0.10
    """Standard deviation of a slice."""
    freedom: int | None = None
    """Degrees of freedom of Student's t; None: normal."""
    memory: float = 0.0
    """Correlation of a server's slices in neighbouring rounds."""
    drift: float = 0.0
    """From the first slice to the last."""
    neighbour: float = 0.0
    """Share of the time in which a neighbour takes something."""
    stay: float = 4.0
    """How many slices the neighbour stays on average."""
    takes: float = 0.7
    """How much it takes."""
    carry_over: float = 0.0
    """Slices after server 0 are faster by so much."""
    start: float = 1.0
    """The rate in the first tenth of a slice, over that in the others."""
    between: float = 0.0
    """Standard deviation of a start of a server."""


MACHINES: dict[str, Machine] = {
    "normal": Machine(),
    "heavy tails (t, 3 df)": Machine(freedom=3),
    "drift of 30%": Machine(drift=0.3),
    "neighbour for 2 s at a time": Machine(neighbour=0.3),
    "neighbour for 20 s at a time": Machine(neighbour=0.3, stay=40),
    "correlated slices (0.6)": Machine(memory=0.6),
    "starts differ by 2%": Machine(between=0.02),
    "all of it": Machine(
        freedom=3, drift=0.3, neighbour=0.3, stay=40, memory=0.3, carry_over=0.01, start=0.7, between=0.02
    ),
}


def slices(
    machine: Machine,
    random: np.random.Generator,
    rounds: int = 80,
    effects: Sequence[float] = (0.0, 0.0),
    rate: float = 1200.0,
    slice_s: float = 0.5,
    blocked: bool = False,
) -> list[Slice]:
    """One phase of one block. `effects`: of each server, on logarithms, next to `rate` queries/s. `blocked`:
    one server after the other, for as long in total."""
    servers, made, before, there = len(effects), [], None, False
    own = np.asarray(effects) + machine.between * random.standard_normal(servers)
    state = _noise(machine, random, servers)
    profile = np.array([machine.start, *[1.0] * (PARTS - 1)])
    for number, server, fresh in _turns(machine, random, rounds, servers, blocked):
        state[server] = machine.memory * state[server] + math.sqrt(1 - machine.memory**2) * fresh
        there = random.random() < (1 - 1 / machine.stay if there else _arrival(machine))
        log = own[server] + machine.noise * state[server] + machine.drift * len(made) / (rounds * servers)
        log += machine.carry_over * (before == 0) - machine.takes * random.random() * there
        parts = random.poisson(rate * slice_s / PARTS * math.exp(log) * profile)
        made.append(Slice(server, number, before, slice_s, tuple(parts.tolist())))
        before = server
    return made


def _turns(
    machine: Machine, random: np.random.Generator, rounds: int, servers: int, blocked: bool
) -> list[tuple[int, int, float]]:
    """Round, server and fresh noise of each slice, in order of time."""
    noise = _noise(machine, random, rounds * servers).reshape(rounds, servers)
    turns = [
        (number, server, float(noise[number, server]))
        for number in range(rounds)
        for server in random.permutation(servers).tolist()
    ]
    if blocked:
        rank = random.permutation(servers)
        turns.sort(key=lambda turn: (int(rank[turn[1]]), turn[0]))
    return turns


def _noise(machine: Machine, random: np.random.Generator, count: int) -> Numbers:
    if machine.freedom is None:
        return random.standard_normal(count)
    return random.standard_t(machine.freedom, count) / math.sqrt(machine.freedom / (machine.freedom - 2))


def _arrival(machine: Machine) -> float:
    """So that the neighbour is there for its share of the time."""
    return machine.neighbour / (machine.stay * (1 - machine.neighbour))


@dataclass(frozen=True)
class Starts:
    """Simulated starts of one machine whose servers are equal: log ratios and their standard errors."""

    logs: Numbers
    errors: Numbers

    def experiments(
        self, starts: int, count: int, random: np.random.Generator
    ) -> list[tuple[Numbers, Numbers]]:
        drawn = random.integers(0, len(self.logs), (count, starts))
        signs = random.choice([-1.0, 1.0], drawn.shape)
        return list(zip(signs * self.logs[drawn], self.errors[drawn], strict=True))


def simulate(machine: Machine, count: int, seed: int = 1, rounds: int = 80) -> Starts:
    random = np.random.default_rng([seed, count])
    fits = [fit(slices(machine, random, rounds), 2) for _ in range(count)]
    logs = [math.log((one.rates[1] or 0) / (one.rates[0] or 0)) for one in fits]
    return Starts(np.array(logs), np.array([2 * (one.errors[0] or 0) for one in fits]))


def blocked_spread(machine: Machine, count: int, seed: int = 1, rounds: int = 80) -> float:
    """Standard deviation of the log ratio of two servers that are driven one after the other."""
    random = np.random.default_rng([seed, count])
    logs = []
    for _ in range(count):
        made = slices(machine, random, rounds, blocked=True)
        totals = [sum(sum(one.parts) for one in made if one.server == server) for server in (0, 1)]
        logs.append(math.log(totals[1] / totals[0]))
    return float(np.sqrt(np.mean(np.square(logs))))


def over_starts(logs: Numbers, errors: Numbers) -> tuple[float, float]:
    """What verdicts use: the starts alone."""
    interval = ratio_of_logs(logs.tolist()).interval
    assert interval is not None
    return math.log(interval.low), math.log(interval.high)


def two_levels(logs: Numbers, errors: Numbers) -> tuple[float, float]:
    """Variance of slices and of starts apart, the latter not below 0, with Satterthwaite's freedom for the
    sum: narrower where starts seem not to differ."""
    count, within = logs.size, float(np.mean(errors**2))
    between = max(0.0, float(logs.var(ddof=1)) - within)
    variance = (between + within) / count
    # The slices' own variance has 79 degrees of freedom in each start.
    weights = ((between + within) ** 2, within**2 / (79 * count))
    freedom = 79 * count if between == 0 else weights[0] / (between**2 / (count - 1) + weights[1])
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * math.sqrt(variance)
    return float(logs.mean()) - half, float(logs.mean()) + half


@dataclass(frozen=True)
class Rates:
    """Shares of the experiments, and the median width of an interval, from its middle."""

    experiments: int
    alarms: float
    """A verdict of faster or slower between equal servers."""
    covered: float
    """Intervals that hold a difference of 5%."""
    found: float
    """Verdicts that find it."""
    width: float


def rates(made: Starts, starts: int, experiments: int, method: Method = over_starts, seed: int = 1) -> Rates:
    random = np.random.default_rng([seed, starts])
    rows = []
    for logs, errors in made.experiments(starts, experiments, random):
        low, high = method(logs, errors)
        rows.append((_alarm(logs, method, low, high), low <= 0 <= high, low + PLANTED > 0, (high - low) / 2))
    table = np.array(rows, dtype=np.float64)
    shares = table[:, :3].mean(axis=0).tolist()
    return Rates(experiments, shares[0], shares[1], shares[2], float(np.median(table[:, 3])))


def _alarm(logs: Numbers, method: Method, low: float, high: float) -> bool:
    if method is not over_starts:
        return not low <= 0 <= high
    verdict = judge(ratio_of_logs(logs.tolist()), Side("left"), Side("right"), QUERIES_PER_SECOND)
    return verdict.outcome in ("faster", "slower")


def main(pool: int, experiments: int) -> None:
    print("| machine | starts | false alarms | coverage | 5% found | ± | blocked, times | two levels |")
    print("|---" * 8 + "|")
    for name, machine in MACHINES.items():
        made = simulate(machine, pool)
        wider = blocked_spread(machine, pool) / float(np.sqrt(np.mean(made.logs**2)))
        for starts in (3, 5, 10):
            found = rates(made, starts, experiments)
            both = rates(made, starts, experiments, two_levels)
            shares = " | ".join(
                f"{100 * share:.1f}" for share in (found.alarms, found.covered, found.found, found.width)
            )
            narrower = f"{100 * both.covered:.1f} ({both.width / found.width:.2f})"
            print(f"| {name} | {starts} | {shares} | {wider:.1f} | {narrower} |", flush=True)


if __name__ == "__main__":
    main(*(int(number) for number in (sys.argv[1:3] or ("500", "2000"))))
