"""The A/A control: one setting measured twice, as if it were two. What it differs by is noise.

It shows what no interval can: that the order, the machine or the tool favours one of two equal settings. In
one of twenty experiments it shows a difference by chance alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.core.percent import percent
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.standard import Standard
from mydyno.lab.analysis.verdict import Verdict, judge_points
from mydyno.lab.analysis.wording import percent_interval
from mydyno.lab.results.records import PointRecord, TrialRecord

_WIDE = 1.5
"""An interval whose upper end is so many times its lower one."""


@dataclass(frozen=True)
class Control:
    """A point and its second measurement."""

    point: PointRecord
    control: PointRecord
    verdict: Verdict
    """Of the second measurement against the first, over all places."""
    differs: bool
    """A difference is shown where there can be none."""
    sentence: str


def controls(
    trials: Sequence[TrialRecord],
    points: Sequence[PointRecord],
    metric: Metric,
    standard: Standard = Standard(),
) -> tuple[Control, ...]:
    """One for each point that an experiment measured a second time."""
    by_id = {point.point_id: point for point in points}
    return tuple(
        _control(trials, by_id[point.control_of], point, metric, standard)
        for point in points
        if point.control_of is not None and point.control_of in by_id
    )


def _control(
    trials: Sequence[TrialRecord],
    point: PointRecord,
    control: PointRecord,
    metric: Metric,
    standard: Standard,
) -> Control:
    verdict = judge_points(trials, control, point, metric, standard).overall
    differs = verdict.outcome in ("faster", "slower")
    return Control(point, control, verdict, differs, _sentence(point, verdict, differs))


def _sentence(point: PointRecord, verdict: Verdict, differs: bool) -> str:
    ratio = verdict.ratio
    twice = f"The control, {point.title} measured twice,"
    sizes = f"n={ratio.n_left} vs {ratio.n_right}"
    of = f" in {verdict.metric.noun}"
    if ratio.identical and ratio.same:
        return f"{twice} does not differ{of}: identical values in every trial, {sizes}."
    if ratio.value is None or ratio.interval is None:
        return f"{twice} cannot be judged yet{of}: an interval needs 3 valid trials of each, {sizes}."
    size = f"{percent(abs(ratio.value - 1))}%"
    error = f"{percent_interval(ratio.interval)}{verdict.standard.correction}"
    difference = f"{twice} differs by {size}{of} ({error}), {sizes}"
    if not differs and ratio.interval.high / ratio.interval.low > _WIDE:
        return f"{difference}: too noisy to be a noise floor."
    if not differs:
        return f"{difference}: the noise floor."
    return (
        f"{difference}, although both are the same: something other than the settings makes a difference, or "
        "chance did, as in 1 of 20 experiments. Differences of this size prove nothing."
    )
