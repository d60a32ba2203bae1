"""The table of comparisons as text: wide, a column for each level, or long, a line for each cell;
and the environment's numbers and facts as tables of text.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mydyno.core.factors import last_part
from mydyno.lab.analysis.metrics import SERVER_CPU, Metric
from mydyno.lab.report.quantities import bracketed, writer
from mydyno.lab.report.tables import FEW
from mydyno.lab.report.views.comparison import Cell, ComparisonTable, Row
from mydyno.lab.report.views.curves import Measured
from mydyno.lab.report.views.ground import OPERATIONS, CheckRow, GroundView, StackRow
from mydyno.lab.report.views.verdicts import RatioRow, outcome_text
from mydyno.page.format import MISSING, capitalised, count, interval, number, ratio
from mydyno.page.table import Table

_CELL = 60
"""Characters of a line within a cell."""


def storage_tables(view: GroundView) -> tuple[Table, ...]:
    """What differs between the settings, and what is the same in all; without those that are empty."""
    differing = [row for row in view.stack if row.differs]
    same = [row for row in view.stack if not row.differs]
    tables = []
    if differing:
        tables.append(_differing_storage(view, differing))
    if same:
        rows = tuple((_fact(view, row), _folded(row.values[0])) for row in same)
        heading = "the same in every setting" if len(view.settings) > 1 else "storage"
        tables.append(Table((heading, "read back"), rows, frozenset({0, 1})))
    return tuple(tables)


def _differing_storage(view: GroundView, facts: Sequence[StackRow]) -> Table:
    """Facts down and settings across; transposed where settings are many."""
    titles = [setting.title for setting in view.settings]
    if len(titles) <= FEW:
        down = tuple((_fact(view, row), *map(_folded, row.values)) for row in facts)
        return Table(("storage", *titles), down, frozenset(range(len(titles) + 1)))
    across = tuple(
        (title, *(_folded(row.values[place]) for row in facts)) for place, title in enumerate(titles)
    )
    names = (_fact(view, row) for row in facts)
    return Table(("setting", *names), across, frozenset(range(len(facts) + 1)))


def _fact(view: GroundView, row: StackRow) -> str:
    """`chunk`, or `data: chunk` where there are several volumes."""
    several = len({each.volume for each in view.stack}) > 1
    return f"{row.volume}: {row.name}" if several else row.name


def _folded(value: str | None) -> str:
    return MISSING if value is None else textwrap.fill(value, _CELL) or "(none)"


def self_checks_table(view: GroundView) -> Table:
    """Expected and measured IOPS of each operation on each volume."""
    columns = ("setting", "volume", "check", "n", "expected", "measured", "of expected", "least idle CPU")
    return Table(columns, tuple(map(_check_row, view.checks)), frozenset({0, 1, 2}))


def _check_row(row: CheckRow) -> tuple[str, ...]:
    least, most = min(row.measured_iops, default=None), max(row.measured_iops, default=None)
    spread = "" if len(row.measured_iops) < 2 else f" ({interval(least, most, count)})"
    return (
        row.setting.title,
        row.volume,
        f"{row.block_bytes // 1024}K {OPERATIONS[row.operation]}",
        str(len(row.measured_iops)),
        count(row.expected_iops),
        f"{count(row.mean_iops)}{spread}",
        MISSING if row.ratio is None else f"{row.ratio * 100:.0f}%",
        MISSING if row.least_idle is None else f"{row.least_idle * 100:.0f}%",
    )


WIDEST = 2
"""Columns that fit side by side on a terminal."""


@dataclass(frozen=True)
class CellText:
    """A cell in up to three lines, each empty where there is nothing to say."""

    mean: str
    """With its interval."""
    ratio: str
    """To the first column, with its interval."""
    verdict: str
    """Nothing in the first column."""
    size: str
    """`n=3`, or why there is no number."""
    shown: bool
    """The trials show a difference from the first column."""

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(line for line in (self.mean, self.ratio, self.below) if line)

    @property
    def below(self) -> str:
        """`faster, n=3`"""
        return ", ".join(part for part in (self.verdict, self.size) if part)


def label_columns(view: ComparisonTable) -> tuple[str, ...]:
    """The headings above the labels of the rows."""
    return (*(last_part(factor) for factor in view.others), *(() if view.one_place else ("measured",)))


def labels(view: ComparisonTable, row: Row) -> tuple[str, ...]:
    return (*row.levels, *(() if view.one_place else (what(view, row),)))


def what(view: ComparisonTable, row: Row) -> str:
    """`queries/s at 8 connections`, `seconds in insert`, `seconds in all programs`, `p99 latency, overall`"""
    if row.metric.summed:
        return f"seconds in {'all programs' if row.place is None else row.place}"
    name = unit(view, row.metric)
    if row.metric.cost:
        return name
    return f"{name}, overall" if row.place is None else f"{name}{view.words.at(row.place)}"


def unit(view: ComparisonTable, metric: Metric) -> str:
    """`queries/s`, `seconds`, `p99 latency`: what a number of this metric is."""
    if metric is view.words.rate:
        return view.words.rate_short
    return "seconds" if metric.summed else metric.noun


def better(view: ComparisonTable) -> str:
    """`queries/s: higher is better; seconds: lower is better`"""
    return "; ".join(f"{unit(view, metric)}: {metric.better} is better" for metric in view.metrics)


def comparison_caption(view: ComparisonTable) -> str:
    """How to read the table."""
    first = view.columns[0].level
    bars = "in brackets its 95% interval" if view.has_intervals else "without intervals, which need 3 trials"
    intervals = f" Intervals of ratios are{view.correction.removeprefix(',')}." if view.correction else ""
    return (
        f"The mean over n valid trials, {bars}; below it the ratio to {first}, and whether the trials show a "
        f"difference. {capitalised(better(view))}. Verdicts over several columns or places are corrected for "
        f"multiple comparisons (Holm); intervals are not.{intervals}"
    )


COSTS_CAPTION = (
    "What the server spent on each query or transaction of the steady parts: geometric means over the valid "
    "trials and all loads, the ratio to the first column, and whether the trials show a difference. Less is "
    "better. Verdicts are corrected (Holm): CPU per query over the columns, all other costs together. Costs "
    "that are 0 everywhere are left out. Instructions and cache misses are not measured."
)


def short_costs(view: ComparisonTable) -> tuple[str, Table]:
    """For a terminal, with its title: all costs of few columns, of many the CPU per query."""
    if len(view.columns) <= WIDEST and not view.others:
        return "Costs per operation, of the server (less is better)", wide_table(view)
    rows = tuple(row for row in view.rows if row.metric is SERVER_CPU)
    return f"{capitalised(SERVER_CPU.noun)} (less is better)", long_table(replace(view, rows=rows))


def cell_text(row: Row, cell: Cell | None) -> CellText:
    if cell is None:
        return CellText(MISSING, "", "", "not in the experiment", False)
    if cell.at is None:
        return CellText(MISSING, "", "", _absent(cell), False)
    compared = cell.compared
    against = "" if compared is None or compared.value is None else ratio(compared.value)
    if compared is not None and against and compared.low is not None:
        against += bracketed(compared.low, compared.high, _plain_ratio)
    left_out = f", {cell.invalid} invalid" if cell.invalid else ""
    size = f"n={cell.at.n}{left_out}"
    return CellText(
        _mean(row.metric, cell.at),
        against,
        _verdict(row.metric, compared),
        size,
        compared is not None and compared.shown,
    )


def wide_table(view: ComparisonTable, between: str = "\n") -> Table:
    """A column for each level; the lines of a cell are parted by `between`."""
    heads = [
        f"{column.level}{between}({column.durability or 'durability not known'})"
        if view.durability_differs
        else column.level
        for column in view.columns
    ]
    rows = tuple(
        (*labels(view, row), *(between.join(cell_text(row, cell).lines) for cell in row.cells))
        for row in view.rows
    )
    named = label_columns(view)
    return Table((*named, *heads), rows, frozenset(range(len(named))))


def long_table(view: ComparisonTable) -> Table:
    """A line for each cell that the experiment has, for places that are too narrow for its columns."""
    rows = []
    for row in view.rows:
        there = [(column, cell) for column, cell in zip(view.columns, row.cells, strict=True) if cell]
        for place, (column, cell) in enumerate(there):
            text = cell_text(row, cell)
            own = labels(view, row) if place == 0 else ("",) * len(labels(view, row))
            rows.append((*own, column.level, text.mean, text.size, text.ratio, text.verdict))
    named = (*label_columns(view), view.name)
    heads = (*named, "mean", "trials", f"against {view.columns[0].level}", "verdict")
    return Table(heads, tuple(rows), frozenset({*range(len(named)), len(heads) - 1}))


def _mean(metric: Metric, at: Measured) -> str:
    # The label of a row says that it is in seconds.
    write = number if metric.unit == "s" else writer(metric)
    error = bracketed(at.low, at.high, write)
    return f"{write(at.value)}{error}"


def _plain_ratio(value: float) -> str:
    return ratio(value).rstrip("×")


def _verdict(metric: Metric, compared: RatioRow | None) -> str:
    if compared is None or (metric.cost and compared.value is None):
        return ""
    if metric.cost and compared.outcome in ("faster", "slower"):
        return "more" if compared.outcome == "slower" else "less"
    cost = " but more durable" if compared.outcome == "slower" else " but less durable"
    return outcome_text(compared) + (cost if compared.less_durable else "")


def _absent(cell: Cell) -> str:
    if cell.run == 0:
        return "not run yet"
    if cell.invalid == cell.run:
        return "no valid trial"
    return "not measured"
