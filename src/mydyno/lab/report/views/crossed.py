"""The verdicts of an experiment of several factors in sentences: how each column fares over all rows.

A row is one combination of the other factors: a load, say. Nothing is averaged over rows, whose numbers may
be of different kinds: the sentences count in how many rows a difference is shown.
"""

from collections.abc import Iterator, Mapping, Sequence

from mydyno.core.factors import last_part
from mydyno.core.plurals import agreeing, counted
from mydyno.lab.analysis.bootstrap import Interval
from mydyno.lab.analysis.grid import Grid
from mydyno.lab.analysis.verdict import Outcome, Verdict
from mydyno.lab.analysis.wording import TOO_WIDE, too_wide
from mydyno.lab.report.quantities import bracketed
from mydyno.page.format import change, interval

Overall = Sequence[Mapping[int, Verdict]]
"""For each row: column -> its verdict over all places, against the first column."""

NAMED = 4
"""Rows that a sentence names with their numbers, and levels that a headline names; the others are
counted."""
_SAID: tuple[tuple[Outcome, str], ...] = (
    ("faster", "faster in"),
    ("slower", "slower in"),
    ("no-difference", "no difference in"),
    ("not-enough-data", "undecided in"),
)


def crossed_headline(grid: Grid, overall: Overall) -> tuple[str, tuple[str, ...]]:
    """The headline, and a sentence for each column but the first."""
    columns = sorted({column for row in overall for column in row})
    if not columns:
        return "No verdict: there is nothing to compare.", ()
    return _leader(grid, overall, columns), tuple(_sentence(grid, overall, column) for column in columns)


def _leader(grid: Grid, overall: Overall, columns: Sequence[int]) -> str:
    """Which level is faster than the first in the most rows, by how much, and how sure that is; ties are
    named. Where none is faster, which is slower; where none is that either, what was measured."""
    for outcome in ("faster", "slower"):
        won = {column: _count(overall, column, outcome) for column in columns}
        most = max(won.values())
        if most:
            best = [column for column in columns if won[column] == most]
            return _shown(grid, overall, best, outcome)
    return _undecided(grid, overall, columns)


def _shown(grid: Grid, overall: Overall, best: Sequence[int], outcome: Outcome) -> str:
    """`innodb_buffer_pool_size: 256M is faster than 16M in 2 of 2 cases of thread_cache_size: +12.0% to
    +30.1% (95% CI +9.1% to +35.2%).`"""
    names = [grid.columns[column] for column in best]
    most = _count(overall, best[0], outcome)
    verdicts = [
        row[column] for row in overall for column in best if column in row and row[column].outcome == outcome
    ]
    lost = _count(overall, best[0], "slower") if outcome == "faster" and len(best) == 1 else 0
    return (
        f"{last_part(grid.factor)}: {_listed(names)} {agreeing(len(names), 'is')} {outcome} than "
        f"{grid.columns[0]} {_cases(grid, overall, most)}{' each' if len(best) > 1 else ''}: "
        f"{_sizes(verdicts)}{f'; slower in {lost}' if lost else ''}."
        f"{_cost(overall, best[0]) if len(best) == 1 else ''}"
    )


def _undecided(grid: Grid, overall: Overall, columns: Sequence[int]) -> str:
    """`innodb_buffer_pool_size: neither 64M nor 256M is shown to differ from 16M in any of 2 cases of
    thread_cache_size: +4.1% to +12.0% (no interval: that needs 3 trials of each).`"""
    names = [grid.columns[column] for column in columns]
    verdicts = [verdict for row in overall for verdict in row.values()]
    if all(verdict.outcome == "no-difference" for verdict in verdicts):
        claim = f"no difference between {grid.columns[0]} and {_listed(names)}"
        cases = _cases(grid, overall, len(overall))
    else:
        claim = f"{_none_of(names)} shown to differ from {grid.columns[0]}"
        cases = _cases(grid, overall, 0)
    return f"{last_part(grid.factor)}: {claim} {cases}: {_sizes(verdicts)}."


def _cases(grid: Grid, overall: Overall, number: int) -> str:
    """`in 2 of 2 cases of thread_cache_size`, `in any of 2 cases ...`: a case is a row."""
    others = " and ".join(map(last_part, grid.others))
    what = counted(len(overall), "case") + (f" of {others}" if others else "")
    return f"in {number or 'any'} of {what}"


def _sizes(verdicts: Sequence[Verdict]) -> str:
    """From the smallest to the largest estimate, and the span of their intervals."""
    metrics = {verdict.metric for verdict in verdicts}
    # Rates and times together have one direction only as speeds.
    inverted = len(metrics) > 1
    noun = "speed" if inverted else metrics.pop().noun
    pairs = [(verdict.ratio, inverted and verdict.metric.better == "lower") for verdict in verdicts]
    values = sorted(
        1 / ratio.value if turned else ratio.value for ratio, turned in pairs if ratio.value is not None
    )
    if not values:
        return "no ratio was measured"
    shown = change(values[0]) if len(values) == 1 else interval(values[0], values[-1], change)
    ends = [
        Interval(1 / ratio.interval.high, 1 / ratio.interval.low) if turned else ratio.interval
        for ratio, turned in pairs
        if ratio.interval is not None
    ]
    if not ends:
        return f"{shown} {noun} (no interval: that needs 3 valid trials of each)"
    span = Interval(min(end.low for end in ends), max(end.high for end in ends))
    error = TOO_WIDE if too_wide(span) else interval(span.low, span.high, change)
    return f"{shown} {noun} (95% CI {error})"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _none_of(names: Sequence[str]) -> str:
    """`64M is not`, `neither 64M nor 256M is`, `none of 7 levels is`"""
    if len(names) == 1:
        return f"{names[0]} is not"
    if len(names) > NAMED:
        return f"none of {counted(len(names), 'level')} is"
    *others, last = names
    return f"neither {', '.join(others)} nor {last} is"


def _sentence(grid: Grid, overall: Overall, column: int) -> str:
    """`RAID 10 against RAID 1: faster in 1 of 2 cases, read-write +12.0% (+9.1% to +15.0%); ...`"""
    parts = []
    for outcome, words in _SAID:
        rows = [
            (row.name, verdicts[column])
            for row, verdicts in zip(grid.rows, overall, strict=True)
            if column in verdicts and verdicts[column].outcome == outcome
        ]
        if rows:
            how_many = f"{len(rows)} of {counted(len(overall), 'case')}"
            named = ", ".join(("", *_named(outcome, rows, every=len(rows) == len(overall))))
            parts.append(f"{words} {how_many}{named}")
    sentence = f"{grid.columns[column]} against {grid.columns[0]}: {'; '.join(parts)}."
    return f"{sentence}{_correction(overall)}{_cost(overall, column)}"


def _correction(overall: Overall) -> str:
    """Of a sequential design: what its intervals are corrected for."""
    correction = next((verdict.standard.correction for row in overall for verdict in row.values()), "")
    return f" Intervals are{correction.removeprefix(',')}." if correction else ""


def _named(outcome: Outcome, rows: Sequence[tuple[str, Verdict]], *, every: bool) -> Iterator[str]:
    """Nothing where they are too many, or none of them shows a difference."""
    if len(rows) > NAMED:
        return
    for name, verdict in rows:
        ratio = verdict.ratio
        if outcome in ("faster", "slower") and ratio.interval is not None:
            of = "" if verdict.metric.better == "higher" else f" in {verdict.metric.noun}"
            error = bracketed(ratio.interval.low, ratio.interval.high, change)
            yield f"{name} {change(ratio.value)}{of}{error}"
        elif not every:
            yield name


def _cost(overall: Overall, column: int) -> str:
    """What the faster side lacks in durability; nothing where no row says so."""
    notes = [note for row in overall if column in row and (note := row[column].durability_note) is not None]
    if not notes:
        return ""
    winner, loser = _labels(overall, column)
    return f" In {len(notes)} of them the faster one is less durable: {winner} against {loser}."


def _labels(overall: Overall, column: int) -> tuple[str, str]:
    """Durability of the faster and of the slower side, where they differ first."""
    verdict = next(row[column] for row in overall if column in row and row[column].durability_note)
    sides = verdict.left.durability or "unknown", verdict.right.durability or "unknown"
    return sides if verdict.outcome == "faster" else (sides[1], sides[0])


def _count(overall: Overall, column: int, outcome: Outcome) -> int:
    return sum(column in row and row[column].outcome == outcome for row in overall)
