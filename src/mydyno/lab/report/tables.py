"""The views' numbers as tables of text, for the page, Markdown and the terminal alike."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence, Set

from mydyno.core.factors import last_part
from mydyno.core.plurals import agreeing, counted
from mydyno.lab.analysis.metrics import Metric
from mydyno.lab.analysis.observations import Place
from mydyno.lab.report.quantities import bracketed, writer
from mydyno.lab.report.views import operations
from mydyno.lab.report.views.curves import CurvePoint, Curves, Levels, Measured
from mydyno.lab.report.views.hosts import HostsView
from mydyno.lab.report.views.key_numbers import KeyNumber
from mydyno.lab.report.views.ranks import Rank
from mydyno.lab.report.views.settings import SettingsView, Value
from mydyno.lab.report.views.transactions import PERCENTILES, Transactions
from mydyno.lab.report.views.trials import TrialRow, TrialTable
from mydyno.page.format import MISSING, change, count, duration, latency, number, ratio, seconds
from mydyno.page.table import Table

FEW = 4
"""Settings in columns; more are in rows."""
_NOTE = 44
"""Characters of a line of a note."""


def curves_table(views: Sequence[Curves]) -> Table:
    """Connections or queue depths down; each setting's mean, interval and n across, for each metric."""
    connections = sorted({found for view in views for found in view.connections})
    several = len(views) > 1
    columns = [
        f"{curve.setting.title}: {view.metric.noun}" if several else curve.setting.title
        for view in views
        for curve in view.curves
    ]
    rows = [
        (count(each), *(_point_text(view, curve.at(each)) for view in views for curve in view.curves))
        for each in connections
    ]
    return Table((views[0].words.load, *columns), tuple(rows))


def _point_text(view: Curves, point: CurvePoint | None) -> str:
    return MISSING if point is None else _mean(view.metric, point)


def _mean(metric: Metric, point: Measured) -> str:
    write = writer(metric)
    error = bracketed(point.low, point.high, write)
    return f"{write(point.value)}{error}, n={point.n}"


def levels_table(views: Sequence[Levels]) -> Table:
    """Places and settings down, metrics across: each mean with its interval and n."""
    several = len(views[0].groups) > 1
    rows = tuple(
        (
            *((place_name(place),) if several else ()),
            level.setting.title,
            *(_level(view, number, row) for view in views),
        )
        for number, (place, group) in enumerate(views[0].groups)
        for row, level in enumerate(group)
    )
    place = views[0].words.load if isinstance(views[0].groups[0][0], int) else views[0].words.part
    columns = (*((place,) if several else ()), "setting", *(view.metric.noun for view in views))
    return Table(columns, rows, frozenset({0, 1} if several else {0}))


def _level(view: Levels, group: int, row: int) -> str:
    at = view.groups[group][1][row].at
    return MISSING if at is None else _mean(view.metric, at)


def place_name(place: Place) -> str:
    return place if isinstance(place, str) else count(place)


def programs_table(view: operations.Programs) -> Table:
    """Programs down; each setting's mean, interval and n across."""
    rows = tuple(
        ("total" if row.program is None else row.program, *map(_running_time, row.seconds))
        for row in view.rows
    )
    return Table(("test program", *(setting.short for setting in view.settings)), rows, frozenset({0}))


def _running_time(at: Measured | None) -> str:
    if at is None:
        return MISSING
    error = bracketed(at.low, at.high)
    return f"{seconds(at.value)}{error}\nn={at.n}"


def operations_table(view: operations.Operations) -> Table:
    """Operations down; each setting's mean time across, and below it the CPU seconds of client and server."""
    rows = tuple(
        (
            row.program,
            _named(row),
            _counts(row.tests),
            _counts(row.statements),
            *(_cost(cost) for cost in row.costs),
        )
        for row in view.rows
    )
    columns = ("test program", "operation", "tests (original)", "statements sent")
    return Table((*columns, *(setting.short for setting in view.settings)), rows, frozenset({0, 1}))


def operation_totals_table(view: operations.OperationTotals) -> Table:
    """Operations down; across, each setting's mean time with its ratio to the first one and the CPU seconds.

    Marks as those of the suite's compare-results: `+` estimated, `?` doubtful results, `*` another number of
    tests than in the column `tests`.
    """
    rows = tuple(
        (row.name, _counts(row.tests), *(_total(cell, row.tests) for cell in row.cells)) for row in view.rows
    )
    return Table(("operation", "tests", *(setting.short for setting in view.settings)), rows, frozenset({0}))


def _total(cell: operations.TotalCell | None, tests: Sequence[int]) -> str:
    if cell is None:
        return MISSING
    marks = "+" * cell.estimated + "?" * cell.warned + "*" * (cell.tests != tests)
    length = "" if cell.ratio is None else f", {ratio(cell.ratio)} as long"
    cpu = f"usr {number(cell.client_cpu_user_s, 2)}, sys {number(cell.client_cpu_system_s, 2)}"
    return f"{seconds(cell.elapsed_s)}{marks}{length}\n{cpu}, cpu {number(cell.client_cpu_s, 2)}, n={cell.n}"


def _counts(values: Sequence[int]) -> str:
    """One number, or the range where trials differ."""
    if not values:
        return MISSING
    return count(values[0]) if len(values) == 1 else f"{count(values[0])} to {count(values[-1])}"


def _cost(cost: operations.Cost | None) -> str:
    if cost is None:
        return MISSING
    cpu = f"client {number(cost.client_cpu, 2)}, server {number(cost.server_cpu, 2)}"
    return f"{seconds(cost.seconds)}, n={cost.n}\nCPU: {cpu}"


def _named(row: operations.OperationRow) -> str:
    """The operation, and below it what is to be known of it."""
    notes = "; ".join(_notes(row))
    return f"{row.name}\n{textwrap.fill(f'({notes})', _NOTE)}" if notes else row.name


def _notes(row: operations.OperationRow) -> Iterator[str]:
    if row.turn > 1:
        yield f"occurrence {row.turn} of this name"
    if not row.in_totals:
        yield "not in the original's totals"
    if row.estimated:
        yield "estimated: cut off by the time limit"
    if row.failed:
        yield f"{count(row.failed)} failed"
    yield from row.warnings


TRANSACTIONS_CAPTION = (
    "Latency is of the whole transaction, from its first statement to the last answer. The count is over all "
    "valid trials; rates and percentiles are geometric means of the trials, with 95% intervals from 3 trials "
    "on."
)


def transactions_table(view: Transactions) -> Table:
    """Places, names and settings down; count, rate and percentiles across. A place or setting that is the
    only one has no column."""
    columns = {
        **_place_column(view),
        "transaction": [row.name for row in view.rows],
        **_setting_column(view, "setting", [row.setting.short for row in view.rows]),
        "count": [count(row.count) for row in view.rows],
        **_measured_columns(view, intervals=True),
    }
    return _of_columns(columns, {"transaction", "setting"})


def brief_transactions_table(view: Transactions) -> Table:
    """The same for 80 columns: without counts and intervals, the only name, and the only factor's name in
    each row."""
    setting, names = "setting", [row.setting.short for row in view.rows]
    if view.factor is not None:
        setting, names = view.factor, [row.setting.levels[0] for row in view.rows]
    columns = {
        **_place_column(view),
        **({"transaction": [row.name for row in view.rows]} if len(view.names) > 1 else {}),
        **_setting_column(view, setting, names),
        **_measured_columns(view, intervals=False),
    }
    return _of_columns(columns, {"transaction", setting})


def _place_column(view: Transactions) -> dict[str, list[str]]:
    several = len({row.place for row in view.rows}) > 1
    return {view.words.load: [place_name(row.place) for row in view.rows]} if several else {}


def _setting_column(view: Transactions, name: str, cells: list[str]) -> dict[str, list[str]]:
    return {name: cells} if len({row.setting.point_id for row in view.rows}) > 1 else {}


def _measured_columns(view: Transactions, intervals: bool) -> dict[str, list[str]]:
    names = ("per second", *PERCENTILES)
    cells = [[_rate_or_latency(metric, at, intervals) for metric, at in row.at] for row in view.rows]
    return {name: [row[place] for row in cells] for place, name in enumerate(names)}


def _of_columns(columns: Mapping[str, Sequence[str]], texts: Set[str]) -> Table:
    places = frozenset(place for place, name in enumerate(columns) if name in texts)
    return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)), places)


def _rate_or_latency(metric: Metric, at: Measured | None, intervals: bool) -> str:
    """Rare transactions have a rate of less than 1."""
    if at is None:
        return MISSING
    write = latency if metric.unit == "ns" else number
    mean = write(at.value)
    return f"{mean}{bracketed(at.low, at.high, write)}, n={at.n}" if intervals else mean


def key_numbers_table(numbers: Sequence[KeyNumber]) -> Table:
    """One row a number and one column a setting; transposed where settings are many."""
    settings = [setting for setting, _, _ in numbers[0].values] if numbers else []
    names = [f"{one.name} {one.how}" for one in numbers]
    across = [[key_value(one, place) for place in range(len(settings))] for one in numbers]
    if len(settings) <= FEW:
        rows = tuple((name, *values) for name, values in zip(names, across, strict=True))
        return Table(("", *(setting.title for setting in settings)), rows, frozenset({0}))
    down = tuple(
        (setting.title, *(values[place] for values in across)) for place, setting in enumerate(settings)
    )
    return Table(("setting", *names), down, frozenset({0}))


def key_value(of: KeyNumber, place: int) -> str:
    write = {"latency": latency, "seconds": seconds}.get(of.kind, count)
    return write(of.values[place][1])


HOSTS_CAPTION = (
    "A block ran whole on one host, and the hosts side by side. Points are compared within blocks, so that "
    "what a host adds to all of its trials is in no comparison. The effect is a host's value over the "
    "geometric mean of all hosts; A/A: the same, of the first point alone, before block 1."
)


def hosts_table(view: HostsView) -> Table:
    rows = tuple(
        (row.host, count(row.blocks), count(row.valid), change(row.effect), change(row.control))
        for row in view.rows
    )
    return Table(("host", "blocks", "valid trials", "effect", "A/A"), rows, frozenset({0}))


def trials_table(view: TrialTable) -> Table:
    """What happened in no trial (retries, reconnects, checks) has no column."""
    columns = (
        "order",
        "trial",
        "block, host" if view.on_hosts else "block",
        "setting",
        "running time" if view.by_program else view.words.rate_short,
        "of its median",
        "errors",
        *(("retries",) if view.retried else ()),
        *(("reconnects",) if view.reconnected else ()),
        *view.counter_names,
        *(("checks",) if view.checked else ()),
        "took",
        "status",
    )
    return Table(
        columns, tuple(_trial_row(view, row) for row in view.rows), frozenset({1, 3, len(columns) - 1})
    )


def _trial_row(view: TrialTable, row: TrialRow) -> tuple[str, ...]:
    return (
        str(row.order),
        row.label,
        str(row.block) if row.host is None else f"{row.block}, {row.host}",
        row.setting.title,
        seconds(row.total_seconds) if view.by_program else count(row.queries_per_second),
        change(row.against_its_own),
        count(row.errors),
        *((count(row.retries),) if view.retried else ()),
        *((count(row.reconnects),) if view.reconnected else ()),
        *(count(value) for value in row.counters),
        *((checks_text(row),) if view.checked else ()),
        duration(row.seconds),
        row.verdict + (f", {warnings_counted(row)}" if row.warnings else ""),
    )


def warnings_counted(row: TrialRow) -> str:
    """`1 warning`"""
    return counted(len(row.warnings), "warning")


def checks_text(row: TrialRow) -> str:
    """`4 hold`, or `1 of 4 does not hold`."""
    if not row.checks:
        return MISSING
    broken, every = len(row.broken), len(row.checks)
    if not broken:
        return "holds" if every == 1 else f"{every} hold"
    if every == 1:
        return "does not hold"
    return f"{broken} of {every} {agreeing(broken, 'does')} not hold"


def settings_table(view: SettingsView) -> Table:
    rows = [(row.name, *(_value(value) for value in row.values)) for row in view.rows]
    rows.append(("durability", *(label or MISSING for label in view.durability)))
    columns = ("variable", *(setting.title for setting in view.settings))
    return Table(columns, tuple(rows), frozenset(range(len(columns))))


def _value(value: Value) -> str:
    """`268435456 (configured 256M)`"""
    shown = MISSING if value.in_force is None else value.in_force or "(empty)"
    same = value.configured in (None, value.in_force)
    return shown if same else f"{shown} (configured {value.configured})"


CAPTION = (
    "Best first. “>”: every level before it is shown to be better than every level after it. Levels that "
    "are not distinguishable need not be equal; pairs among them that do differ are named. Only points that "
    "differ in this factor alone are compared, in the same block. Levels of different durability are ranked "
    "separately."
)


def ranks_table(ranks: Sequence[Rank]) -> Table:
    rows = tuple(
        (
            last_part(rank.ranking.factor),
            rank.scope,
            rank.ranking.display + (f"; {rank.without}" if rank.without else ""),
            rank.metric,
            rank.ranking.test,
        )
        for rank in ranks
    )
    return Table(("factor", "within", "order", "in", "test"), rows, frozenset(range(5)))
