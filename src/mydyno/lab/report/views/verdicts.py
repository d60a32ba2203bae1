"""What the run says: every point against the first of its row, in sentences, and the ratios behind them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mydyno.core.plurals import counted
from mydyno.lab.analysis.bootstrap import Interval, ends
from mydyno.lab.analysis.grid import GridRow
from mydyno.lab.analysis.holm import holm
from mydyno.lab.analysis.metrics import CONNECT_P95, Metric
from mydyno.lab.analysis.observations import Place, finite, overall_places, places
from mydyno.lab.analysis.optimum import optimum
from mydyno.lab.analysis.standard import Standard
from mydyno.lab.analysis.summary import Summary, total_summary
from mydyno.lab.analysis.verdict import ComparisonVerdict, Outcome, Verdict, judge, judge_points
from mydyno.lab.analysis.wording import largest_difference, too_wide
from mydyno.lab.analysis.words import Words, tail_latency
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.report.quantities import bracketed, writer
from mydyno.lab.report.views.crossed import crossed_headline
from mydyno.lab.report.views.outliers import Flagged, named, without
from mydyno.lab.results.records import TrialRecord
from mydyno.page.format import capitalised, count


@dataclass(frozen=True)
class RatioRow:
    place: Place | None
    """None for the ratio over all places."""
    value: float | None
    low: float | None
    high: float | None
    n: tuple[int, int]
    outcome: Outcome
    less_durable: bool = False
    """The faster side keeps committed data less safe than the other."""

    @property
    def shown(self) -> bool:
        """The trials show a difference."""
        return self.outcome in ("faster", "slower")


def outcome_text(row: RatioRow) -> str:
    """`faster`, `no difference > 12.0%`: for tables and charts, which have the interval as well."""
    if row.shown:
        return row.outcome
    if row.low is None or row.high is None or too_wide(interval := Interval(row.low, row.high)):
        return row.outcome.replace("-", " ")
    return f"no difference > {largest_difference(interval)}"


@dataclass(frozen=True)
class Ratios:
    """One setting over another in one metric; 1.12 says 12% more."""

    metric: Metric
    setting: Setting
    against: Setting
    rows: tuple[RatioRow, ...]
    """By rising connections, or by program as they ran; the overall one last."""
    words: Words
    paired: bool
    """Trials of the same block were compared with each other."""
    standard: Standard

    @property
    def margin(self) -> float:
        """The equivalence margin."""
        return self.standard.margin

    @property
    def overall(self) -> RatioRow:
        return self.rows[-1]

    @property
    def by_program(self) -> bool:
        return bool(self.rows[:-1]) and all(isinstance(row.place, str) for row in self.rows[:-1])

    @property
    def empty(self) -> bool:
        return not any(row.value is not None for row in self.rows)


@dataclass(frozen=True)
class OtherVerdict:
    """The verdict in another metric, for context."""

    metric: Metric
    setting: Setting
    sentence: str


@dataclass(frozen=True)
class Verdicts:
    headline: str
    outcome: Outcome | None
    """Of the first comparison; None when nothing was compared."""
    sentences: tuple[str, ...]
    """When several are compared: one for each column of the table of comparisons but the first."""
    metric: Metric
    ratios: tuple[Ratios, ...]
    """Of each point against the first of its row, row by row."""
    others: tuple[OtherVerdict, ...]
    """Where there are trials enough for an interval, and one factor varies."""
    untested: bool = False
    """No comparison over all places has trials enough for a test."""
    without: tuple[str, ...] = ()
    """What would be said without the trials that are flagged as outliers, where it is something else."""


def verdicts(evidence: Evidence, strange: Sequence[Flagged] = ()) -> Verdicts:
    metric = evidence.metric_of(evidence.trials)
    settings = {setting.point_id: setting for setting in evidence.settings}
    rows = compared_rows(evidence)
    all_verdicts = [one for row in rows for one in row.values()]
    headline, sentences = _headline(evidence, metric, rows)
    return Verdicts(
        headline=headline,
        outcome=all_verdicts[0].overall.outcome if all_verdicts and evidence.valid else None,
        sentences=sentences,
        metric=metric,
        ratios=tuple(
            _ratios(settings[one.comparison.left], settings[one.comparison.right], one, evidence.words)
            for one in all_verdicts
        ),
        others=() if evidence.crossed else tuple(_others(evidence, settings, metric)),
        untested=bool(all_verdicts) and all(one.overall.ratio.p_value is None for one in all_verdicts),
        without=tuple(_without(evidence, strange, rows)),
    )


def compared_rows(evidence: Evidence) -> list[dict[int, ComparisonVerdict]]:
    """`compared_row` of each row of the grid; with `one_family` their overall tests are one family."""
    rows = [compared_row(evidence, row) for row in (evidence.grid.rows if evidence.grid else ())]
    if not evidence.one_family:
        return rows
    corrected = iter(_corrected([one for row in rows for one in row.values()]))
    return [{column: next(corrected) for column in row} for row in rows]


def compared_row(
    evidence: Evidence, row: GridRow, metric: Metric | None = None
) -> dict[int, ComparisonVerdict]:
    """Column -> its point against the first one; where they are several, their overall tests are a family.

    Without a `metric` it is the one that the row's own load is about.
    """
    trials = row.of(evidence.with_controls)
    metric = evidence.metric_of(trials) if metric is None else metric
    over = _common_places(trials, metric)
    found = {
        column: judge_points(trials, other, first, metric, evidence.standard, over)
        for column, other, first in row.comparisons()
    }
    if len(found) < 2:
        return found
    return dict(zip(found, _corrected(list(found.values())), strict=True))


def _common_places(trials: Sequence[TrialRecord], metric: Metric) -> tuple[Place, ...] | None:
    """The places of a row's means over all of them (`total_summary`), so that its ratios are of the same
    numbers; None where its points share no place, or times are summed, and each pair has its own."""
    valid = [trial for trial in finite(trials, metric) if trial.status == "valid"]
    return None if metric.summed else overall_places(valid, metric) or None


def _without(
    evidence: Evidence, strange: Sequence[Flagged], rows: Sequence[dict[int, ComparisonVerdict]]
) -> Iterator[str]:
    """A sentence for each verdict that would be another one without the outliers among its trials."""
    if evidence.grid is None or not strange:
        return
    fewer = replace(evidence, trials=without(evidence, strange))
    for row, found in zip(evidence.grid.rows, rows, strict=True):
        points = {point.point_id for point in row.present}
        inside = [one for one in strange if one.outlier.trial.point_id in points]
        if not inside:
            continue
        for column, other in compared_row(fewer, row).items():
            if other.overall.outcome != found[column].overall.outcome:
                where = f" ({row.name})" if row.name else ""
                yield f"Without {named(inside)} the verdict{where} would be: {other.overall.sentence}."


def _others(evidence: Evidence, settings: Mapping[str, Setting], primary: Metric) -> Iterator[OtherVerdict]:
    for metric in _other_metrics(evidence):
        if metric is primary or evidence.grid is None:
            continue
        for one in compared_row(evidence, evidence.grid.rows[0], metric).values():
            if one.overall.ratio.interval is not None:
                yield OtherVerdict(metric, settings[one.comparison.left], _other_sentence(one.overall))


def _other_metrics(evidence: Evidence) -> tuple[Metric, ...]:
    """A test program is of many kinds of statement: neither its rate nor its percentiles say anything."""
    return () if evidence.by_program else (evidence.words.rate, tail_latency(evidence.trials), CONNECT_P95)


def _corrected(family: Sequence[ComparisonVerdict]) -> Iterator[ComparisonVerdict]:
    """The same comparisons, their overall tests corrected for being so many (Holm)."""
    for one, p in zip(family, holm([one.comparison.overall.p_value for one in family]), strict=True):
        ratio = replace(one.comparison.overall, adjusted_p=p, family=len(family))
        old = one.overall
        yield replace(one, overall=judge(ratio, old.left, old.right, old.metric, old.standard))


def _ratios(setting: Setting, against: Setting, one: ComparisonVerdict, words: Words) -> Ratios:
    return Ratios(
        metric=one.comparison.metric,
        setting=setting,
        against=against,
        rows=(
            *(ratio_row(place, each) for place, each in one.by_place.items()),
            ratio_row(None, one.overall),
        ),
        words=words,
        paired=one.comparison.overall.paired,
        standard=one.overall.standard,
    )


def ratio_row(place: Place | None, verdict: Verdict) -> RatioRow:
    """The ratio of a verdict, as tables and pictures have it."""
    ratio = verdict.ratio
    sizes, note = (ratio.n_left, ratio.n_right), verdict.durability_note
    return RatioRow(place, ratio.value, *ends(ratio.interval), sizes, verdict.outcome, note is not None)


def _headline(
    evidence: Evidence, metric: Metric, rows: list[dict[int, ComparisonVerdict]]
) -> tuple[str, tuple[str, ...]]:
    if not evidence.trials:
        return "No verdict: no trial has been run yet.", ()
    if not evidence.valid:
        return f"No verdict: none of the {counted(len(evidence.trials), 'trial')} is valid.", ()
    if not rows or evidence.grid is None:
        return _alone(evidence, metric), ()
    if evidence.crossed:
        overall = [{column: one.overall for column, one in row.items()} for row in rows]
        return crossed_headline(evidence.grid, overall)
    against = {one.comparison.left: one.overall for one in rows[0].values()}
    if evidence.experiment.design.points in ("fraction", "plackett-burman"):
        # Its points differ in half of the factors: what each of those does, the effects say.
        return _leader(evidence, metric, against), ()
    if len(against) == 1:
        (verdict,) = against.values()
        return f"{_for_this_load(evidence)}{verdict.sentence}.", ()
    return _leader(evidence, metric, against), tuple(map(as_sentence, against.values()))


def _for_this_load(evidence: Evidence) -> str:
    """The beginning of a headline: under another load the verdict may be another. Nothing where loads are
    compared. (Of several factors the headline names the cases.)"""
    loads = any(factor.split(".")[0] in ("workload", "load") for factor in evidence.experiment.factors)
    return "" if loads else "For this load, "


def as_sentence(verdict: Verdict) -> str:
    """The verdict with a full stop, and with a capital unless it begins with a name."""
    text = verdict.sentence
    named = text.startswith(verdict.left.title)
    return f"{text if named else text[:1].upper() + text[1:]}."


def _other_sentence(verdict: Verdict) -> str:
    """Among others, a verdict whose words do not name its metric gets the name in front."""
    noun = verdict.metric.noun
    if noun in verdict.sentence:
        return as_sentence(verdict)
    return f"{noun[:1].upper()}{noun[1:]}: {verdict.sentence}."


def _alone(evidence: Evidence, metric: Metric) -> str:
    """For an experiment of one point: its best place, or its time for all programs."""
    point = evidence.experiment.compared_points[0]
    if metric.summed:
        seen = total_summary(evidence.trials, [point.point_id], metric)[point.point_id]
        where = "in all test programs"
    else:
        best = optimum(evidence.trials, point.point_id, metric)
        if best is None:
            return f"No verdict: {metric.noun} was not measured."
        seen = best.best
        where = evidence.words.best_at(seen.place)
    if seen.value is None:
        return f"No verdict: {metric.noun} was not measured in every test program of a trial."
    return f"{capitalised(_value_text(metric, seen.value))} {where}{_error(metric, seen)}, n={seen.n}."


def _leader(evidence: Evidence, metric: Metric, verdicts: Mapping[str, Verdict]) -> str:
    """For several comparisons: which setting measured best, its mean, and how it compares with the first."""
    points = evidence.grid.rows[0].present if evidence.grid is not None else ()
    found = total_summary(evidence.with_controls, [point.point_id for point in points], metric)
    means = {point.point_id: mean for point in points if (mean := found[point.point_id].value) is not None}
    if not means:
        where = "in the same test programs" if metric.summed else evidence.words.same_loads
        return f"No overall verdict: the {len(points)} settings were not measured {where}."
    choose = max if metric.better == "higher" else min
    best = choose(means, key=lambda point_id: means[point_id])
    title = next(point.title for point in points if point.point_id == best)
    over = " in all test programs" if metric.summed else _over_places(evidence)
    best_value = f"{_value_text(metric, means[best])}{_error(metric, found[best])}{over}"
    against = f"; {verdicts[best].sentence}" if best in verdicts else "; no other is shown to be faster"
    best_of = f"{title} measured best of {counted(len(points), 'setting')}"
    return f"{_for_this_load(evidence)}{best_of}: {best_value}{against}."


def _over_places(evidence: Evidence) -> str:
    """Nothing where there is one place only."""
    found = places(evidence.trials)
    if len(found) == 1:
        return evidence.words.at(found[0])
    whole = evidence.words.all_loads if isinstance(found[0], int) else f"all {evidence.words.part}s"
    return f", the geometric mean over {whole}"


def _value_text(metric: Metric, value: float | None) -> str:
    if metric.unit == "1/s":
        return f"{count(value)} {metric.noun}"
    return f"{metric.noun} of {writer(metric)(value)}"


def _error(metric: Metric, of: Summary) -> str:
    """` (95% CI 37,707 to 39,050)`"""
    return bracketed(*ends(of.interval), writer(metric)).replace("(", "(95% CI ", 1)
