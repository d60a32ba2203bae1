"""What the slices of servers that were driven in turn say of their rates. Pure.

All servers of a block run at once and are driven slice by slice, in random order within each round, so what
a neighbour on the machine does hits them alike (Bulej and others, *Duet Benchmarking: Improving Measurement
Accuracy in the Cloud*, ICPE 2020). The logarithm of a slice's rate is taken for the sum of an effect of its
round, an effect of its server and noise; `two_way` fits it. What the slices of one block cannot show is how
much another start of the same server would differ: verdicts compare blocks, each with fresh servers (Kalibera
and Jones, *Rigorous Benchmarking in Reasonable Time*, ISMM 2013).

The beginning of a slice, in which connections wake up and caches of the CPU fill, is left out by the
criterion that finds the warm-up of a phase (`analysis.steady`), on the mean profile of the slices' tenths.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mydyno.lab.analysis.steady import LEAST_DIFFERENCE, STANDARD_ERRORS, Array, squared_errors
from mydyno.lab.analysis.student_t import quantile
from mydyno.lab.analysis.two_way import TwoWay, two_way

PARTS = 10
"""Of each slice: tenths."""
_OUTLYING = 0.25
"""A slice of less weight hardly counts: with normal noise one in a thousand."""
_CARRY_OVER_LEVEL = 0.99
"""A run has many phases; at 95% every second run would have a false alarm."""


@dataclass(frozen=True)
class Slice:
    """One measured slice. `after`: the server that was driven directly before, None in the first of a phase.
    `parts`: the queries that ended in each tenth."""

    server: int
    round: int
    after: int | None
    seconds: float
    parts: tuple[int, ...]


@dataclass(frozen=True)
class Spent:
    """CPU of a server's process in one of its slices with the end that drains, and the queries of both."""

    server: int
    round: int
    cpu_s: float
    queries: int


@dataclass(frozen=True)
class CarryOver:
    """The largest difference between slices that came after different servers, on logarithms: slices after
    `servers[0]` are faster by `difference` than slices after `servers[1]`. The interval, of 99%, is corrected
    for looking for the largest."""

    servers: tuple[int, int]
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class SliceFit:
    """Tuples have one value for each server."""

    cut_s: float
    """Left out at the beginning of each slice."""
    steady: bool
    """Whether slices are steady from the cut on."""
    rates: tuple[float | None, ...]
    """Queries/s from the cut on; their ratios are those within rounds. None: nothing measured."""
    errors: tuple[float | None, ...]
    """Standard error of the logarithm of each rate relative to the geometric mean of all. None where a server
    was not compared: alone, or without queries in half of its slices."""
    means: tuple[float | None, ...]
    """Queries/s from the cut on, outliers counted like all others: queries over seconds."""
    mean_errors: tuple[float | None, ...]
    """Like `errors`, of `means`."""
    outlying: float
    """The share of slices that are too far from their round and server to count in `rates`."""
    rounds: int
    carry_over: CarryOver | None
    """None where orders are too few to distinguish it."""
    autocorrelation: float | None
    """Of neighbouring rounds' residuals."""


def fit(slices: Sequence[Slice], servers: int) -> SliceFit:
    """The rates of servers 0 to `servers` - 1 from the measured slices of one phase, in order of time."""
    first, steady = _cut(slices, servers)
    table = _table(slices, servers, first)
    totals, times = np.nansum(table.queries, axis=0), np.nansum(table.seconds, axis=0)
    means = [float(total / time) if time else None for total, time in zip(totals, times, strict=True)]
    rates, errors, mean_errors = list(means), _none(servers), _none(servers)
    # Of a server that answers nothing in half of its slices, a logarithm says nothing.
    fitted = [of for of in range(servers) if means[of] and np.nanmedian(table.queries[:, of]) > 0]
    carry_over = autocorrelation = None
    outlying = 0.0
    shared = np.isfinite(table.queries[:, fitted]).sum(axis=1) > 1
    if shared.any():
        queries, seconds = table.queries[:, fitted], table.seconds[:, fitted]
        # Half a query stands for none, which has no logarithm: an outlier where others have many. Counts
        # are whole numbers, so noise is not taken for less than half a query.
        logs = np.log(np.maximum(queries, 0.5) / seconds)
        found = two_way(logs, least_scale=0.5 / max(float(np.nanmedian(queries)), 1.0))
        factors = np.exp(found.columns)
        level = totals[fitted].sum() / (times[fitted] * factors).sum()
        shares = queries / seconds / (totals[fitted] / times[fitted])
        for column, server in enumerate(fitted):
            rates[server] = float(level * factors[column])
            errors[server] = found.error(np.eye(len(fitted))[column] - 1 / len(fitted))
            mean_errors[server] = _mean_error(shares, column)
        outlying = float((found.weights[np.isfinite(found.residuals)] < _OUTLYING).mean())
        carry_over = _carry_over(logs, found.weights, table.after[:, fitted], fitted)
        autocorrelation = _autocorrelation(found)
    return SliceFit(
        cut_s=table.slice_s * first / PARTS,
        steady=steady,
        rates=tuple(rates),
        errors=tuple(errors),
        means=tuple(means),
        mean_errors=tuple(mean_errors),
        outlying=outlying,
        rounds=len(table.queries),
        carry_over=carry_over,
        autocorrelation=autocorrelation,
    )


def fit_costs(spent: Sequence[Spent], servers: int) -> tuple[float | None, ...]:
    """CPU seconds per query of servers 0 to `servers` - 1, whose ratios are those within rounds, by the same
    robust fit as rates; None of a server that no slice was read of or that was not compared."""
    rows = {number: row for row, number in enumerate(sorted({one.round for one in spent}))}
    cpu, queries = (np.full((len(rows), servers), np.nan) for _ in range(2))
    for one in spent:
        # A slice without either has no logarithm.
        if one.cpu_s > 0 and one.queries:
            cpu[rows[one.round], one.server], queries[rows[one.round], one.server] = one.cpu_s, one.queries
    costs = _none(servers)
    shared = np.isfinite(cpu).sum(axis=1) > 1
    fitted = [of for of in range(servers) if np.isfinite(cpu[shared, of]).any()]
    if fitted:
        factors = np.exp(two_way(np.log(cpu[:, fitted] / queries[:, fitted])).columns)
        level = np.nansum(cpu[:, fitted]) / (np.nansum(queries[:, fitted], axis=0) * factors).sum()
        for factor, server in zip(factors, fitted, strict=True):
            costs[server] = float(level * factor)
    return tuple(costs)


def _none(servers: int) -> list[float | None]:
    return [None] * servers


@dataclass(frozen=True)
class _Table:
    """A row for each round, a column for each server; NaN where a slice is missing."""

    queries: Array
    """From the cut on."""
    seconds: Array
    after: Array
    """The server before; NaN: none."""
    slice_s: float


def _table(slices: Sequence[Slice], servers: int, first: int) -> _Table:
    rows = {number: row for row, number in enumerate(sorted({one.round for one in slices}))}
    queries, seconds, after = (np.full((len(rows), servers), np.nan) for _ in range(3))
    for one in slices:
        cell = rows[one.round], one.server
        queries[cell] = sum(one.parts[first:])
        seconds[cell] = one.seconds * (PARTS - first) / PARTS
        after[cell] = np.nan if one.after is None else one.after
    return _Table(queries, seconds, after, float(np.median([one.seconds for one in slices] or [0.0])))


def _mean_error(shares: Array, column: int) -> float | None:
    """The standard error of a server's mean relative to that of all, from its slices' shares of its mean."""
    whole = shares[np.isfinite(shares).all(axis=1)]
    differences = whole[:, column] - whole.mean(axis=1)
    return float(differences.std(ddof=1)) / len(whole) ** 0.5 if len(whole) > 1 else None


def _cut(slices: Sequence[Slice], servers: int) -> tuple[int, bool]:
    """How many tenths to leave out at the beginning of every slice, the most that a server needs, and whether
    the rest is steady."""
    profiles = [_shares([one.parts for one in slices if one.server == of]) for of in range(servers)]
    cut = max((_cut_of(shares) for shares in profiles), default=0)
    middle = (cut + PARTS) // 2
    return cut, not any(_differs(shares[:, cut:], middle - cut) for shares in profiles)


def _shares(parts: Sequence[tuple[int, ...]]) -> Array:
    """The tenths of a server's slices as shares of the slice's mean."""
    table = np.array([row for row in parts if sum(row)], dtype=np.float64).reshape(-1, PARTS)
    shares: Array = table / table.mean(axis=1, keepdims=True)
    return shares


def _cut_of(shares: Array) -> int:
    """How many tenths one server needs left out: 0 unless they differ from the rest."""
    if len(shares) < 2:
        return 0
    cut = int(np.argmin(squared_errors(shares.mean(axis=0))[: PARTS // 2 + 1]))
    return cut if cut and _differs(shares, cut) else 0


def _differs(shares: Array, at: int) -> bool:
    """Whether the tenths before `at` differ from those behind it by enough to matter and by more than chance
    explains, given how much the slices differ."""
    if len(shares) < 2:
        return False
    behind = shares[:, at:].mean(axis=1)
    differences = shares[:, :at].mean(axis=1) - behind
    size = abs(float(differences.mean()))
    error = float(differences.std(ddof=1)) / len(shares) ** 0.5
    return size >= LEAST_DIFFERENCE * float(behind.mean()) and size > STANDARD_ERRORS * error


def _carry_over(logs: Array, weights: Array, after: Array, servers: Sequence[int]) -> CarryOver | None:
    """The effects of the server before, next to those of rounds and servers: weighted least squares with the
    weights of the robust fit. None where the orders do not separate them."""
    count = len(servers)
    cells = np.isfinite(logs) & np.isin(after, servers) & (weights > 0)
    weights = np.where(cells, weights, 0.0)
    totals = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    values = np.where(cells, logs, 0.0)
    of_server = np.broadcast_to(np.eye(count), (*logs.shape, count))
    before = (after[..., None] == np.asarray(servers)).astype(np.float64)
    design = np.concatenate([of_server[..., 1:], before[..., 1:]], axis=2)
    # Rounds are eliminated: values and design as deviations from the weighted mean of their round.
    values = values - (shares * values).sum(axis=1, keepdims=True)
    design = design - (shares[..., None] * design).sum(axis=1, keepdims=True)
    roots = np.sqrt(weights[cells])
    columns, right = design[cells] * roots[:, None], values[cells] * roots
    rows = int((totals > 0).sum())
    freedom = len(right) - rows - 2 * (count - 1)
    if freedom < 5 or np.linalg.matrix_rank(columns) < 2 * (count - 1):
        return None
    effects, *_ = np.linalg.lstsq(columns, right, rcond=None)
    variance = float(((right - columns @ effects) ** 2).sum()) / freedom
    covariance = variance * np.linalg.inv(columns.T @ columns)[count - 1 :, count - 1 :]
    return _largest(np.append(0.0, effects[count - 1 :]), np.pad(covariance, (1, 0)), freedom, servers)


def _largest(effects: Array, covariance: Array, freedom: int, servers: Sequence[int]) -> CarryOver:
    """The largest difference between two effects; its interval has Bonferroni's level for all pairs."""
    high, low = int(np.argmax(effects)), int(np.argmin(effects))
    pairs = len(effects) * (len(effects) - 1) / 2
    difference = float(effects[high] - effects[low])
    error = float(covariance[high, high] + covariance[low, low] - 2 * covariance[high, low]) ** 0.5
    half = quantile(1 - (1 - _CARRY_OVER_LEVEL) / (2 * pairs), freedom) * error
    return CarryOver((servers[high], servers[low]), difference, difference - half, difference + half)


def _autocorrelation(effects: TwoWay) -> float | None:
    """Of lag one: residuals of neighbouring rounds, by server; outliers weigh as little as in the fit."""
    scores = np.nan_to_num(effects.residuals) * effects.weights
    squares = float((scores**2).sum())
    return float((scores[1:] * scores[:-1]).sum()) / squares if squares and len(scores) > 2 else None
