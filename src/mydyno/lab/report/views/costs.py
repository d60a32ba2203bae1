"""What the server spent on each query and transaction, setting by setting, against the first of each row.

Server CPU per query is the cost that the sentences are about: over the columns of a row it is a family of
tests, and all other costs of the row are another (Holm).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from mydyno.lab.analysis import observations
from mydyno.lab.analysis.bootstrap import Interval
from mydyno.lab.analysis.grid import GridRow
from mydyno.lab.analysis.holm import holm
from mydyno.lab.analysis.metrics import COSTS, SERVER_CPU, Metric
from mydyno.lab.analysis.ratio import ratio
from mydyno.lab.analysis.standard import least_durable
from mydyno.lab.analysis.summary import TOTAL, Summary, summarise, total_summary
from mydyno.lab.analysis.verdict import Side, Verdict, judge
from mydyno.lab.analysis.wording import change, largest_difference, too_wide
from mydyno.lab.report.evidence import Evidence
from mydyno.lab.report.views.comparison import Cell, Column, ComparisonTable, Row
from mydyno.lab.report.views.curves import measured
from mydyno.lab.report.views.verdicts import Verdicts, ratio_row
from mydyno.lab.results.records import TrialRecord

_Judged = dict[tuple[Metric, int], Verdict]
"""(cost, column) -> against the first column."""


@dataclass(frozen=True)
class Costs:
    table: ComparisonTable
    """A row for each cost that was measured and is not 0 everywhere, over all places. The columns are those
    of the table of comparisons."""
    sentences: tuple[str, ...]
    """One for each setting whose CPU per query can be compared with the first one's; none where several
    factors vary together."""


def costs(evidence: Evidence, verdicts: Verdicts, compared: ComparisonTable) -> Costs:
    grid = evidence.grid
    rows = grid.rows if grid else (GridRow((), evidence.experiment.compared_points[:1]),)
    judged = [_judged(evidence, row) for row in rows]
    judged = list(_corrected(judged)) if evidence.one_family else [_corrected([one])[0] for one in judged]
    table = replace(
        compared,
        columns=compared.columns or tuple(Column(one.title, one.slot, None) for one in evidence.settings[:1]),
        rows=tuple(
            line for row, own in zip(rows, judged, strict=True) for line in _lines(evidence, row, own)
        ),
    )
    # Points of a fraction of a design differ in half of the factors: the effects say what each of those does.
    compares = not evidence.crossed and evidence.experiment.design.points in ("all", "one-at-a-time")
    return Costs(table, tuple(_sentences(verdicts, judged[0])) if compares else ())


def _judged(evidence: Evidence, row: GridRow) -> _Judged:
    """Of each cost that is above 0 in all trials of a row at some place."""
    trials, standard = row.of(evidence.valid), evidence.standard
    judged: _Judged = {}
    for metric in COSTS:
        if not (over := observations.overall_places(trials, metric)):
            continue
        for column, *pair in row.comparisons():
            sides, seen = [], []
            for point in pair:
                own = observations.valid_trials(trials, point.point_id)
                sides.append(Side(point.title, least_durable(own)))
                seen.append(observations.overall_observations(own, over, metric))
            spent = ratio(seen[0], seen[1], standard.level)
            judged[metric, column] = judge(spent, sides[0], sides[1], metric, standard)
    return judged


def _corrected(rows: Sequence[_Judged]) -> list[_Judged]:
    """The same, corrected for being many: CPU per query, and all other costs."""
    corrected: list[_Judged] = [dict(row) for row in rows]
    for of_cpu in (True, False):
        keys = [(row, key) for row in corrected for key in row if (key[0] is SERVER_CPU) is of_cpu]
        tests = holm([row[key].ratio.p_value for row, key in keys])
        for (row, key), p in zip(keys, tests, strict=True):
            old = row[key]
            of = replace(old.ratio, adjusted_p=p, family=len(keys))
            row[key] = judge(of, old.left, old.right, old.metric, old.standard)
    return corrected


def _lines(evidence: Evidence, row: GridRow, judged: _Judged) -> Iterator[Row]:
    settings = {setting.point_id: setting for setting in evidence.settings}
    trials = row.of(evidence.valid)
    for metric in COSTS:
        points = [point.point_id for point in row.present]
        means = _means(trials, points, metric)
        if not any(one.value for one in means.values()):
            continue
        cells: list[Cell | None] = []
        for column, point in enumerate(row.points):
            if point is None:
                cells.append(None)
                continue
            own = evidence.trials_of(point.point_id)
            verdict = judged.get((metric, column))
            compared = None if verdict is None else ratio_row(None, verdict)
            invalid = sum(trial.status == "invalid" for trial in own)
            at = measured(means[point.point_id])
            cells.append(Cell(settings[point.point_id], at, compared, invalid=invalid, run=len(own)))
        yield Row(row.levels, None, metric, tuple(cells))


def _means(trials: Sequence[TrialRecord], points: Iterable[str], metric: Metric) -> dict[str, Summary]:
    """Over all places; where a trial has a cost of 0, which has no geometric mean, the plain one."""
    points = list(points)
    whole = total_summary(trials, points, metric)
    if any(one.n for one in whole.values()):
        return whole
    found = observations.places(trials)
    plain = {}
    for point in points:
        values = [
            [observations.value_at(trial, place, metric) for place in found]
            for trial in observations.valid_trials(trials, point)
        ]
        known = [[value for value in of_trial if value is not None] for of_trial in values]
        plain[point] = summarise(point, TOTAL, [fmean(one) for one in known if len(one) == len(found) > 0])
    return plain


def _sentences(verdicts: Verdicts, judged: _Judged) -> Iterator[str]:
    """`For this load 9.7 takes 11.0% (95% CI 10.1 to 12.0) more server CPU per query than 8.4; no difference
    in queries per second larger than 6.0% is shown.`"""
    for (metric, column), verdict in judged.items():
        if metric is not SERVER_CPU or verdict.ratio.interval is None or too_wide(verdict.ratio.interval):
            continue
        left, right = verdict.left.title, verdict.right.title
        if verdict.outcome in ("faster", "slower"):
            more = "more" if verdict.outcome == "slower" else "less"
            size = f"{change(verdict.ratio)[:-1]}{verdict.standard.correction})"
            spent = f"{left} takes {size} {more} {metric.noun} than {right}"
            yield f"For this load {spent}{_rate(verdicts, column)}."
        elif verdict.outcome == "no-difference":
            bound = largest_difference(verdict.ratio.interval)
            between = f"larger than {bound} between {left} and {right}"
            yield f"For this load no difference in {metric.noun} {between} is shown."


def _rate(verdicts: Verdicts, column: int) -> str:
    """What is known of the metric that the experiment is about, where no difference is shown in it."""
    one = verdicts.ratios[column - 1] if column <= len(verdicts.ratios) else None
    if one is None or one.overall.shown or one.overall.low is None or one.overall.high is None:
        return ""
    bounds = Interval(one.overall.low, one.overall.high)
    if too_wide(bounds):
        return ""
    return f"; no difference in {one.metric.noun} larger than {largest_difference(bounds)} is shown"
