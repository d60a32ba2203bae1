"""The verdicts of an experiment of several factors in sentences: how each column fares over all rows.

A row is one combination of the other factors: a load, say. Nothing is averaged over rows, whose numbers may
be of different kinds: the sentences count in how many rows a difference is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mydyno.analysis.grid import Grid
from mydyno.analysis.verdict import Outcome, Verdict
from mydyno.report.format import change, interval

Overall = Sequence[Mapping[int, Verdict]]
"""For each row: column -> its verdict over all places, against the first column."""

NAMED = 4
"""Rows that a sentence names with their numbers; of more it tells how many there are."""
_SAID: tuple[tuple[Outcome, str], ...] = (
    ("faster", "faster in"),
    ("slower", "slower in"),
    ("no-difference", "no difference in"),
    ("not-enough-data", "not enough data in"),
)


def crossed_headline(grid: Grid, overall: Overall) -> tuple[str, tuple[str, ...]]:
    """The headline, and a sentence for each column but the first; a single one is the headline itself."""
    columns = sorted({column for row in overall for column in row})
    sentences = tuple(_sentence(grid, overall, column) for column in columns)
    if len(columns) < 2:
        return (sentences[0] if sentences else "No verdict: there is nothing to compare."), ()
    return _leader(grid, overall, columns), sentences


def _leader(grid: Grid, overall: Overall, columns: Sequence[int]) -> str:
    """Who is faster than the first column in the most rows; ties are told."""
    first, rows = grid.columns[0], len(overall)
    won = {column: _count(overall, column, "faster") for column in columns}
    most = max(won.values())
    if most == 0:
        return f"None of {len(columns)} is shown to be faster than {first} in any of {rows} cases."
    best = [column for column in columns if won[column] == most]
    cases = f"in {most} of {rows} cases"
    if len(best) > 1:
        *others, last = [grid.columns[column] for column in best]
        return f"{', '.join(others)} and {last} are faster than {first} {cases} each; no other in as many."
    lost = _count(overall, best[0], "slower")
    also = f" and slower in {lost}" if lost else ""
    cost = _cost(overall, best[0])
    return f"{grid.columns[best[0]]} is faster than {first} {cases}{also}; no other in as many.{cost}"


def _sentence(grid: Grid, overall: Overall, column: int) -> str:
    """`RAID 10 against RAID 1: faster in 1 of 2 cases, read-write +12.0 % (+9.1 % to +15.0 %); ...`"""
    parts = []
    for outcome, said in _SAID:
        rows = [
            (row.name, verdicts[column])
            for row, verdicts in zip(grid.rows, overall, strict=True)
            if column in verdicts and verdicts[column].outcome == outcome
        ]
        if rows:
            how_many = f"{len(rows)} of {len(overall)} cases"
            named = ", ".join(("", *_named(outcome, rows, every=len(rows) == len(overall))))
            parts.append(f"{said} {how_many}{named}")
    told = f"{grid.columns[column]} against {grid.columns[0]}: {'; '.join(parts)}."
    return f"{told}{_looked(overall)}{_cost(overall, column)}"


def _looked(overall: Overall) -> str:
    """Of a sequential design: what its intervals are corrected for."""
    correction = next((verdict.standard.correction for row in overall for verdict in row.values()), "")
    return f" Intervals are{correction.removeprefix(',')}." if correction else ""


def _named(outcome: Outcome, rows: Sequence[tuple[str, Verdict]], *, every: bool) -> Iterator[str]:
    """Nothing where they are too many, or all of them without a difference to tell."""
    if len(rows) > NAMED:
        return
    for name, verdict in rows:
        ratio = verdict.ratio
        if outcome in ("faster", "slower") and ratio.interval is not None:
            of = "" if verdict.metric.better == "higher" else f" in {verdict.metric.noun}"
            error = interval(ratio.interval.low, ratio.interval.high, change)
            yield f"{name} {change(ratio.value)}{of} ({error})"
        elif not every:
            yield name


def _cost(overall: Overall, column: int) -> str:
    """What the faster side gives up; nothing where no row says so."""
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
