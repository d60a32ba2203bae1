"""What the charts and tables of a search's report are made of. Pure: from the records to rows."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mydyno.page.table import Table
from mydyno.tune.confirm import interval
from mydyno.tune.history import Score
from mydyno.tune.reduce import LEFT, short
from mydyno.tune.result import Found, progress, text_of
from mydyno.tune.scores import times
from mydyno.tune.screening import ORIGIN as SCREENING
from mydyno.tune.screening import Screening
from mydyno.tune.space import Dimension

Rows = list[dict[str, Any]]
_LEAST_TRIALS = 6
"""Below, no share of the variance is said: it would be mostly chance."""
_BINS = 4
_DASH = "—"


def measured(found: Found) -> list[Score]:
    """Those with a ratio, the start first."""
    return [each for each in found.scores if found.objectives[0] in each.ratios]


def progress_rows(found: Found) -> Rows:
    """Each trial's ratio to the start with its 95% interval, and the best so far."""
    best = dict(progress(found))
    rows = []
    for score in measured(found):
        number, ratio = score.candidate.number, math.exp(score.ratios[found.objectives[0]])
        low, high = score.bounds(found.objectives[0]) or (ratio, ratio)
        rows.append(
            {
                "trial": number,
                "ratio": ratio,
                "low": low,
                "high": high,
                "best": math.exp(best.get(number, 0.0)),
                "kept": "keeps all constraints" if score.feasible else "breaks a constraint",
            }
        )
    return rows


def importance(found: Found) -> list[tuple[str, float]]:
    """Path -> share of the variance of the logarithms that its values explain, corrected for their number
    (epsilon squared: Kelley, An Unbiased Correlation Ratio Measure, PNAS 21, 1935). The largest first;
    nothing for fewer than six trials. Settings that were varied together share what they explain."""
    scores = measured(found)
    if len(scores) < _LEAST_TRIALS:
        return []
    values = [score.ratios[found.objectives[0]] for score in scores]
    shares = []
    for dimension in found.space.dimensions:
        groups: dict[object, list[float]] = {}
        for score, value in zip(scores, values, strict=True):
            groups.setdefault(_bin(dimension, score), []).append(value)
        shares.append((short(dimension.path), _explained(list(groups.values()), values)))
    return sorted(shares, key=lambda each: -each[1])


def _bin(dimension: Dimension, score: Score) -> object:
    point = score.candidate.point
    if dimension.path not in point:
        return None
    index = dimension.index(point[dimension.path])
    if not dimension.ordered or len(dimension.values) <= _BINS:
        return index
    return index * _BINS // len(dimension.values)


def _explained(groups: Sequence[Sequence[float]], values: Sequence[float]) -> float:
    n, k = len(values), len(groups)
    total = statistics.pvariance(values) * n
    if total <= 0 or k < 2 or n <= k:
        return 0.0
    within = sum(statistics.pvariance(group) * len(group) for group in groups)
    return max(0.0, 1 - within / total * (n - 1) / (n - k))


def slice_rows(found: Found) -> dict[str, Rows]:
    """Path -> value and ratio of each trial that has it."""
    rows: dict[str, Rows] = {}
    for dimension in found.space.dimensions:
        own = [
            {
                "value": text_of(score.candidate.point[dimension.path]),
                "place": dimension.index(score.candidate.point[dimension.path]),
                "ratio": score.ratio(found.objectives[0]),
                "trial": score.candidate.title,
            }
            for score in measured(found)
            if dimension.path in score.candidate.point
        ]
        if own:
            rows[short(dimension.path)] = sorted(own, key=lambda row: row["place"])
    return rows


def parallel_rows(found: Found) -> Rows:
    """A row for each trial and path: where on the path's scale, 0 to 1, its value is."""
    rows = []
    for score in measured(found):
        for dimension in found.space.dimensions:
            if dimension.path in score.candidate.point:
                last = max(len(dimension.values) - 1, 1)
                rows.append(
                    {
                        "trial": score.candidate.title,
                        "path": short(dimension.path),
                        "place": dimension.index(score.candidate.point[dimension.path]) / last,
                        "ratio": score.ratio(found.objectives[0]),
                    }
                )
    return rows


def front(found: Found) -> list[Score]:
    """The trials that keep all constraints and than which none is better in all objectives."""
    usable = [
        each
        for each in measured(found)
        if each.feasible and all(name in each.ratios for name in found.objectives)
    ]
    return [each for each in usable if not any(_dominates(other, each, found.objectives) for other in usable)]


def _dominates(one: Score, other: Score, objectives: Sequence[str]) -> bool:
    pairs = [(one.ratios[name], other.ratios[name]) for name in objectives]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def pareto_rows(found: Found) -> Rows:
    best = {each.candidate.number for each in front(found)}
    first, second = found.objectives[:2]
    return [
        {
            "x": score.ratio(first),
            "y": score.ratio(second),
            "trial": score.candidate.title,
            "front": score.candidate.number in best,
        }
        for score in measured(found)
        if second in score.ratios
    ]


def gain_rows(found: Found) -> Rows:
    """The winner over each reference, of the last attempt."""
    last = found.confirmations[-1] if found.confirmations else None
    return [
        {"name": each.name, "ratio": each.ratio, "low": each.low, "high": each.high}
        for each in (last.against if last else ())
        if each.ratio is not None
    ]


def worth_rows(found: Found) -> Rows:
    return [
        {
            "name": short(each.path),
            "ratio": each.gain.ratio,
            "low": each.gain.low,
            "high": each.gain.high,
        }
        for each in (found.reduced.worth if found.reduced else ())
        if each.gain.ratio is not None
    ]


def trials_table(found: Found) -> Table:
    first, *others = found.objectives
    gains = [f"{first}, {times(first)} (95% interval)", *(f"{name}, {times(name)}" for name in others)]
    columns = ("trial", "from", *gains, "rounds", "notes")
    rows = tuple(
        (
            score.candidate.title,
            score.candidate.origin,
            times_text(score, first),
            *(_times(score, name) for name in others),
            str(score.rounds),
            "; ".join(_notes(score)) or _DASH,
        )
        for score in found.scores
    )
    return Table(columns, rows, frozenset({0, 1, len(columns) - 1}))


def times_text(score: Score, first_objective: str) -> str:
    """The ratio to the start with its interval, where it has one."""
    ratio, bounds = score.ratio(first_objective), score.bounds(first_objective)
    return _times(score, first_objective) if ratio is None or bounds is None else interval(ratio, *bounds)


def _times(score: Score, objective: str) -> str:
    ratio = score.ratio(objective)
    return _DASH if ratio is None else f"{ratio:.2f}"


def _notes(score: Score) -> Iterator[str]:
    if score.failure:
        yield score.failure
    elif score.state == "unmeasured":
        yield "no valid measurement"
    yield from score.violations
    if score.stopped:
        yield "stopped early"


def screening_table(found: Found) -> Table:
    """What every screened change is worth, the largest effect first."""
    columns = ("setting", "leader", "changed to", "times as good (95% interval)", "afterwards")
    rows = () if found.screening is None else tuple(_screened(found, found.screening))
    return Table(columns, rows, frozenset({0, 1, 2, 4}))


def _screened(found: Found, design: Screening) -> Iterator[tuple[str, ...]]:
    own = [score.error or 0.0 for score in found.scores if score.candidate.origin == SCREENING]
    width = design.half_width(max(own))
    dropped = {path for each in found.ends for path in each.dropped}
    changes = {each.path: each for each in design.dimensions}
    for path, effect in design.effects(found.scores, found.objectives[0]).items():
        yield (
            short(path),
            text_of(design.leader.point[path]),
            text_of(design.far(changes[path])),
            interval(math.exp(effect), math.exp(effect - width), math.exp(effect + width)),
            "as the leader has it" if path in dropped else "varied",
        )


def settings_table(found: Found) -> Table:
    """Every trial's point."""
    names = [each.path for each in found.space.dimensions]
    rows = tuple(
        (score.candidate.title, *(_cell(score.candidate.point, path) for path in names))
        for score in found.scores
    )
    return Table(("trial", *(short(path) for path in names)), rows, frozenset({0}))


def _cell(point: Mapping[str, Any], path: str) -> str:
    return text_of(point[path]) if path in point else _DASH


def confirmations_table(found: Found) -> Table:
    compared = [(each.candidate.title, one) for each in found.confirmations for one in each.against]
    if found.reduced and found.reduced.of_all:
        compared += [(LEFT, one) for one in (found.reduced.gain, found.reduced.of_all)]
    rows = tuple((name, one.name, one.interval, str(one.n), one.outcome) for name, one in compared)
    return Table(
        ("winner", "against", "times as good (95% interval)", "n", "verdict"), rows, frozenset({0, 1, 4})
    )


def worth_table(found: Found) -> Table:
    rows = tuple(
        (short(each.path), text_of(each.value), each.gain.interval, "stays" if each.kept else "removed")
        for each in (found.reduced.worth if found.reduced else ())
    )
    return Table(
        ("setting", "value", "times as good with it (95% interval)", "in best.cnf"),
        rows,
        frozenset({0, 1, 3}),
    )
