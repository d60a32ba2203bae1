"""Two sides of a rehearsal, statement by statement. Pure: arrays in, records out.

**Times.** In each block, both sides have replayed the same statements with the same values, so each execution
is compared with itself: the logarithm of its service time on the other side over that on the baseline, its
mean over the executions of a fingerprint, one value a block. Blocks are independent (fresh clones, fresh
servers, random order), executions in one are not, so the interval and the test are over blocks
(`lab.analysis.ratio`), corrected by Holm for all fingerprints that were tested. A statement is called slower
or faster only when that test says so and the best estimate is beyond the margin.

**Results.** An execution is compared when every repetition on one side agrees. Where rows depend on what
other connections do at the time, repetitions differ by chance, and by chance they agree, too: among n
repetitions of each side, that both sides agree with themselves and not with each other is at most 1/6 as
likely as that one does not agree with itself (n = 2, a coin; less for every other n). So a fingerprint has
another result, or a new error, only when more executions say so than do not repeat.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mydyno.lab.analysis.holm import holm
from mydyno.lab.analysis.ratio import Ratio, ratio_of_logs
from mydyno.rehearse.reasons import depends_on_the_server, reason, undetermined
from mydyno.rehearse.records import (
    Failure,
    OtherResult,
    SideComparison,
    StatementComparison,
    Times,
    Timing,
)
from mydyno.rehearse.results import WRITE, Replayed, Shape
from mydyno.rehearse.wording import headline

LEVEL = 0.01
"""Of all statements of a comparison together: an A/A rehearsal may be wrong once in a hundred times."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class _Side:
    """All repetitions of one side, by statement."""

    trials: Sequence[Replayed]

    @property
    def always(self) -> Mask:
        """Replayed in every repetition."""
        return np.asarray(np.logical_and.reduce([trial.replayed for trial in self.trials]))

    @property
    def fails(self) -> Mask:
        return np.asarray(np.logical_and.reduce([trial.failed for trial in self.trials]))

    @property
    def works(self) -> Mask:
        return np.asarray(self.always & ~np.logical_or.reduce([trial.failed for trial in self.trials]))

    def agrees(self) -> Mask:
        """Every repetition returned, or changed, the same."""
        first, *others = self.trials
        same = np.ones(len(first.records), dtype=bool)
        for other in others:
            same &= first.result == other.result
            for field in ("rows", "affected"):
                same &= first.records[field] == other.records[field]
        return same

    def count(self, field: str) -> NDArray[np.int64]:
        return np.asarray(self.trials[0].records[field], dtype=np.int64)


@dataclass(frozen=True)
class _Groups:
    """Statements by fingerprint."""

    ids: NDArray[np.uint64]
    index: NDArray[np.intp]
    """Of each statement, into `ids`."""

    def count(self, mask: Mask) -> NDArray[np.int64]:
        return np.bincount(self.index[mask], minlength=len(self.ids)).astype(np.int64)

    def sum(self, values: NDArray[np.float64], mask: Mask) -> NDArray[np.float64]:
        return np.bincount(self.index[mask], values[mask], len(self.ids)).astype(np.float64)

    def first(self, mask: Mask, group: int) -> int:
        """Place of the first statement of a group within the mask."""
        return int(np.argmax(mask & (self.index == group)))


def compare_sides(baseline: Sequence[Replayed], other: Sequence[Replayed], margin: float) -> SideComparison:
    """`other` against `baseline`, each at least one repetition of the same trace. `margin`: 0.1 for 10%."""
    one, two = _Side(baseline), _Side(other)
    ids, index = np.unique(np.asarray(baseline[0].records["fingerprint"]), return_inverse=True)
    groups = _Groups(ids, index)
    both = one.always & two.always
    shapes = [_shape(int(each), (*baseline, *other)) for each in ids]
    times, total = _times(one, two, groups, both, margin)
    answers = _Answers(one, two, groups, both)
    counts = groups.count(both | one.always | two.always)
    sums = [_mean_sums(side, groups) for side in (one, two)]
    of_all = [max(float(each.sum()), 1.0) for each in sums]
    statements = [
        answers.of(
            number,
            StatementComparison(
                id=shape.id,
                text=shape.text,
                example=shape.example,
                schema_name=shape.schema,
                executions=int(counts[number]),
                shares=(float(sums[0][number] / of_all[0]), float(sums[1][number] / of_all[1])),
                times=times[number],
            ),
        )
        for number, shape in enumerate(shapes)
        if counts[number]
    ]
    ranked = tuple(sorted(statements, key=_rank))
    comparison = SideComparison(
        baseline=baseline[0].side,
        other=other[0].side,
        headline="",
        total=total,
        statements=ranked,
        diverged=answers.diverged,
    )
    return comparison.model_copy(update={"headline": headline(comparison, margin)})


def _shape(number: int, trials: Sequence[Replayed]) -> Shape:
    shapes = [trial.shapes[number] for trial in trials if number in trial.shapes]
    if not shapes:
        text = f"{number:016x}"
        return Shape(text, text, text, None, {})
    messages = {error: text for shape in shapes for error, text in shape.messages.items()}
    return replace(shapes[0], messages=messages)


def _mean_sums(side: _Side, groups: _Groups) -> NDArray[np.float64]:
    """Microseconds of each fingerprint in one repetition."""
    sums = [
        groups.sum(np.asarray(trial.records["service_us"], dtype=np.float64), trial.replayed)
        for trial in side.trials
    ]
    return np.asarray(np.mean(sums, axis=0), dtype=np.float64)


def _times(one: _Side, two: _Side, groups: _Groups, both: Mask, margin: float) -> tuple[list[Times], Times]:
    """Of each fingerprint, and of the trace as a whole."""
    pairs = [(left, right) for left in one.trials for right in two.trials if left.block == right.block]
    works = both & one.works & two.works
    counts = groups.count(works)
    logs, totals, means = [], [], []
    for left, right in pairs:
        times = [
            np.maximum(np.asarray(trial.records["service_us"], dtype=np.float64), 1.0)
            for trial in (left, right)
        ]
        with np.errstate(invalid="ignore", divide="ignore"):
            logs.append(groups.sum(np.log(times[1] / times[0]), works) / counts)
            means.append([groups.sum(each, works) / counts for each in times])
        sums = [float(each[works].sum()) for each in times]
        totals.append(float(np.log(sums[1] / sums[0])) if works.any() else 0.0)
    ratios = [
        ratio_of_logs([float(block[number]) for block in logs]) if counts[number] and logs else None
        for number in range(len(groups.ids))
    ]
    adjusted = holm([None if each is None else each.p_value for each in ratios])
    corrected = [
        _timed(each, p, margin, [(float(m[0][number]), float(m[1][number])) for m in means])
        for number, (each, p) in enumerate(zip(ratios, adjusted, strict=True))
    ]
    whole = ratio_of_logs(totals) if totals and works.any() else None
    return corrected, _timed(whole, None if whole is None else whole.p_value, margin, [])


def _timed(
    ratio: Ratio | None, p: float | None, margin: float, means: Sequence[tuple[float, float]]
) -> Times:
    if ratio is None or ratio.value is None:
        return Times(timing="not timed")
    interval = ratio.interval
    return Times(
        timing=_timing(ratio, p, margin),
        ratio=ratio.value,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        p=p,
        repetitions=ratio.n_left,
        baseline_us=float(np.mean([mean[0] for mean in means])) if means else None,
        other_us=float(np.mean([mean[1] for mean in means])) if means else None,
    )


def _timing(ratio: Ratio, p: float | None, margin: float) -> Timing:
    assert ratio.value is not None
    if p is not None and p <= LEVEL and ratio.value >= 1 + margin:
        return "slower"
    if p is not None and p <= LEVEL and ratio.value <= 1 / (1 + margin):
        return "faster"
    interval = ratio.interval
    if interval is not None and interval.low > 1 / (1 + margin) and interval.high < 1 + margin:
        return "same"
    return "unclear"


class _Answers:
    """What the statements returned: errors, results, warnings."""

    def __init__(self, one: _Side, two: _Side, groups: _Groups, both: Mask) -> None:
        self._one, self._two, self._groups = one, two, groups
        self._fails = both & two.fails & one.works
        self._repaired = both & one.fails & two.works
        mixed = ~(one.fails | one.works) | ~(two.fails | two.works)
        agree = one.agrees() & two.agrees()
        works = both & one.works & two.works
        self._unstable = (both & mixed) | (works & ~agree)
        first, second = one.trials[0], two.trials[0]
        other = first.result != second.result
        for field in ("rows", "affected"):
            other |= np.asarray(first.records[field] != second.records[field])
        self._other = works & agree & other
        fewer = np.max([trial.records["warnings"] for trial in one.trials], axis=0)
        more = np.min([trial.records["warnings"] for trial in two.trials], axis=0)
        self._warned = works & (more > fewer)
        self._counts = {
            name: groups.count(mask)
            for name, mask in (
                ("fails", self._fails),
                ("repaired", self._repaired),
                ("other", self._other),
                ("unstable", self._unstable),
                ("warned", self._warned),
            )
        }
        self.diverged = self._diverged()

    def _diverged(self) -> int | None:
        """The first statement that changed rows differently, among those whose repetitions agree."""
        writes = np.asarray(self._one.trials[0].records["class"] == WRITE)
        changed = (self._other | self._fails | self._repaired) & writes
        counted = self._counts["other"] + self._counts["fails"] + self._counts["repaired"]
        changed &= (counted > self._counts["unstable"])[self._groups.index]
        return self._number(int(np.argmax(changed))) if changed.any() else None

    def _number(self, place: int) -> int:
        return int(self._one.trials[0].records["statement"][place])

    def of(self, group: int, statement: StatementComparison) -> StatementComparison:
        unstable = int(self._counts["unstable"][group])
        found = {name: int(counts[group]) for name, counts in self._counts.items()}
        update: dict[str, object] = {
            "not_repeatable": unstable,
            "not_compared": depends_on_the_server(statement.text),
        }
        if found["fails"] > unstable:
            update["fails"] = tuple(self._failures(group, self._fails, self._two, statement))
        if found["repaired"] > unstable:
            update["repaired"] = tuple(self._failures(group, self._repaired, self._one, statement))
        if found["other"] > unstable and update["not_compared"] is None:
            update["other_result"] = self._other_result(group, statement)
        if found["warned"] > unstable:
            update["warnings"] = found["warned"]
        return statement.model_copy(update=update)

    def _failures(
        self, group: int, mask: Mask, side: _Side, statement: StatementComparison
    ) -> Iterator[Failure]:
        """By number, the most frequent first."""
        places = np.flatnonzero(mask & (self._groups.index == group))
        numbers = side.trials[0].records["error"][places]
        shape = _shape(int(self._groups.ids[group]), side.trials)
        for number in sorted(set(numbers.tolist()), key=lambda each: -int((numbers == each).sum())):
            at = places[numbers == number]
            yield Failure(
                number=number,
                message=shape.messages.get(number, ""),
                executions=len(at),
                first=self._number(int(at[0])),
                reason=reason(number, shape.messages.get(number, ""), statement.text),
            )

    def _other_result(self, group: int, statement: StatementComparison) -> OtherResult:
        place = self._groups.first(self._other, group)
        writes = self._one.trials[0].records["class"][place] == WRITE
        field = "affected" if writes else "rows"
        number = self._number(place)
        note = undetermined(statement.text)
        if note is None and self.diverged is not None and number > self.diverged:
            note = f"statement {self.diverged + 1:,} had changed other rows before"
        return OtherResult(
            executions=int(self._counts["other"][group]),
            first=number,
            rows=(int(self._one.count(field)[place]), int(self._two.count(field)[place])),
            note=note,
        )


def _rank(each: StatementComparison) -> tuple[int, float, str]:
    """The worst first; among equals the larger share of the time of the other side."""
    kinds = (
        bool(each.fails),
        each.other_result is not None and each.other_result.note is None,
        each.times.timing == "slower",
        each.other_result is not None,
        bool(each.warnings),
        each.times.timing == "faster",
        bool(each.repaired),
    )
    place = next((number for number, holds in enumerate(kinds) if holds), len(kinds))
    return (place, -each.shares[1], each.id)
