"""How the verdict narrows: the interval of each comparison after each block. Pure."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mydyno.lab.analysis.precision import first_comparisons
from mydyno.lab.analysis.ratio import Ratio
from mydyno.lab.analysis.words import primary_metric
from mydyno.lab.results.records import ExperimentRecord, TrialRecord
from mydyno.page.format import interval, printable, ratio

MOST_COMPARISONS = 6
MOST_BLOCKS = 40
"""Of more, the first and the last of evenly spaced ones are shown."""
_WIDTH, _HEIGHT, _LEFT, _BELOW = 560, 120, 6, 18


@dataclass(frozen=True)
class Known:
    """A comparison after a block."""

    block: int
    value: float | None
    low: float | None
    high: float | None

    @property
    def text(self) -> str:
        if self.value is None:
            return "–"
        bounds = "" if self.low is None else f" [{interval(self.low, self.high, ratio)}]"
        return f"{ratio(self.value)}{bounds}"


@dataclass(frozen=True)
class Narrowing:
    """One comparison over the blocks."""

    title: str
    """Of its point, which is compared with the first of its row."""
    metric: str
    known: tuple[Known, ...]

    @property
    def last(self) -> Known:
        return self.known[-1]

    @property
    def marks(self) -> tuple["Mark", ...]:
        return _marks(self.known)

    @property
    def even(self) -> float:
        """Where a ratio of 1 lies in the picture, from its top."""
        return _even(self.known)


@dataclass(frozen=True)
class Mark:
    """A comparison in the picture, in its pixels."""

    x: float
    y: float
    low: float | None
    high: float | None
    block: int


def shown_blocks(blocks: Sequence[int]) -> tuple[int, ...]:
    """At most `MOST_BLOCKS` of them, evenly spaced, with the first and the last."""
    if len(blocks) <= MOST_BLOCKS:
        return tuple(blocks)
    step = (len(blocks) - 1) / (MOST_BLOCKS - 1)
    return tuple(blocks[round(place * step)] for place in range(MOST_BLOCKS))


def after_block(trials: Sequence[TrialRecord], experiment: ExperimentRecord, block: int) -> dict[str, Known]:
    """Title of each compared point -> what is known of it by the trials of the blocks up to this one."""
    known = [trial for trial in trials if trial.block <= block]
    return {point.title: _known(block, found) for point, found in first_comparisons(known, experiment)}


def narrowings(
    trials: Sequence[TrialRecord], experiment: ExperimentRecord, by_block: Sequence[dict[str, Known]]
) -> tuple[Narrowing, ...]:
    """Those of the first comparisons; `by_block` is of `after_block`."""
    titles = list(by_block[-1])[:MOST_COMPARISONS] if by_block else []
    metric = primary_metric(trials, experiment.work).noun if trials else ""
    return tuple(
        Narrowing(printable(title), metric, tuple(of[title] for of in by_block if title in of))
        for title in titles
    )


def _known(block: int, found: Ratio | None) -> Known:
    if found is None or found.value is None:
        return Known(block, None, None, None)
    if found.interval is None:
        return Known(block, found.value, None, None)
    return Known(block, found.value, found.interval.low, found.interval.high)


def _scale(known: Sequence[Known]) -> tuple[float, float]:
    """The logarithms at the lower and the upper edge of the picture; 1 is between them."""
    ends = [end for one in known for end in (one.value, one.low, one.high) if end is not None and end > 0]
    logs = [math.log(end) for end in ends if math.isfinite(end)]
    low, high = min([-0.02, *logs]), max([0.02, *logs])
    room = (high - low) * 0.08
    return low - room, high + room


def _even(known: Sequence[Known]) -> float:
    low, high = _scale(known)
    return round((high - 0.0) / (high - low) * (_HEIGHT - _BELOW), 1)


def _marks(known: Sequence[Known]) -> tuple[Mark, ...]:
    low, high = _scale(known)

    def at(value: float) -> float:
        return round((high - math.log(value)) / (high - low) * (_HEIGHT - _BELOW), 1)

    return tuple(_placed(known, at))


def _placed(known: Sequence[Known], at: Callable[[float], float]) -> Iterator[Mark]:
    step = (_WIDTH - 2 * _LEFT) / max(1, len(known))
    for place, one in enumerate(known):
        if one.value is None or one.value <= 0:
            continue
        bounded = one.low is not None and one.high is not None and one.low > 0
        yield Mark(
            x=round(_LEFT + (place + 0.5) * step, 1),
            y=at(one.value),
            low=at(one.low) if bounded and one.low is not None else None,
            high=at(one.high) if bounded and one.high is not None else None,
            block=one.block,
        )
