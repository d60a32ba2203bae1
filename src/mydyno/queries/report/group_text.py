"""One group of a digest at length, for a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from mydyno.page.blocks import heights, on_log_scale
from mydyno.page.format import MISSING, count, number, printable, printable_lines, shorten
from mydyno.page.lines import Line, wrapped
from mydyno.page.time_zones import Zone
from mydyno.queries.attributes import title
from mydyno.queries.records import Digest, Example, Figures, Group, Measure, Plan, PlanRow
from mydyno.queries.report import words
from mydyno.queries.report.plan_table import remarks

_LABEL = 10
_INDENT = " " * (2 + _LABEL)
_STEPS = 40
"""Of the histogram, where there is room."""
_MOST_NAMES = 5
_MOST_LINES = 15
"""Of an example; a longer one can be read in the log, or with --json."""
_MOST_CHARACTERS = 1_500
_MANY = 100
"""Rows examined for each that is sent."""
_CELL = 32
"""Characters of a cell of EXPLAIN but the last."""
_COLUMNS = ("share", "total", "mean", "min", "p50", "p95", "p99", "max")
_OF_ONE = ("share", "total")
"""Of a statement that ran once: all others say the same."""
_FIRST_TO_GO = ("min", "p99", "share", "p50", "total")
"""In the order in which they go when there is no room."""
_OF_THE_LOG = ("log_slow_rate_limit",)
"""Attributes of the log, not of its statements."""
_FIRST = ("query_time", "lock_time", "rows_examined", "rows_sent")


def measure_lines(group: Group, total: Figures, width: int) -> Iterator[Line]:
    """What no statement of the group has any of is left out, but for the first four."""
    names = [name for name in _FIRST if name in group.measures]
    left_out = (*_FIRST, *_OF_THE_LOG)
    names += [name for name, each in group.measures.items() if name not in left_out and each.sum]
    rows = [_row(group.measures[name], total.measures.get(name)) for name in names]
    columns = [
        column for column in (_COLUMNS if group.count > 1 else _OF_ONE) if any(row[column] for row in rows)
    ]
    label = max((len(title(name).short) for name in names), default=0)
    sizes = {column: max(len(column), *(len(row[column]) for row in rows)) for column in columns}
    columns = fitting(columns, sizes, width - 2 - label, _FIRST_TO_GO)
    if rows:
        heads = "".join(f"  {column:>{sizes[column]}}" for column in columns)
        yield Line(f"  {'':{label}}{heads}", "faint")
    for name, row in zip(names, rows, strict=True):
        cells = "".join(f"  {row[column]:>{sizes[column]}}" for column in columns)
        yield Line(f"  {title(name).short:{label}}{cells}".rstrip())


def fitting(
    columns: Sequence[str], sizes: Mapping[str, int], width: int, gives_way: Sequence[str]
) -> list[str]:
    """The columns for which there is space, each two blanks from the next; those in `gives_way` go first."""
    left = list(columns)
    for column in gives_way:
        if sum(sizes[each] + 2 for each in left) <= width:
            break
        left = [each for each in left if each != column]
    return left


def _row(measure: Measure, total: Measure | None) -> dict[str, str]:
    """Empty where a column does not apply."""
    values = {column: getattr(measure, column) for column in ("mean", "min", "p50", "p95", "p99", "max")}
    return {
        "share": words.share(measure.sum, total.sum) if total and total.sum else "",
        "total": words.amount(measure.sum, measure.unit),
        **{
            name: "" if value is None else words.amount(value, measure.unit) for name, value in values.items()
        },
    }


def group_lines(rank: int, group: Group, digest: Digest, width: int, zone: Zone) -> Iterator[Line]:
    yield from wrapped(printable(group.fingerprint), width, first=f"{rank}. ", style="heading")
    if group.is_cut:
        yield Line(f"{_INDENT}(its beginning: the whole is longer)", "faint")
    yield from _labelled("id", group.id, width)
    of_calls = words.share(group.count, digest.total.count)
    rate = f", {number(words.per_second(group, digest))} a second" if digest.seconds else ""
    yield from _labelled("count", f"{count(group.count)}, {of_calls} of all{rate}", width)
    yield from measure_lines(group, digest.total, width)
    if group.query_time is not None:
        yield from _histogram(group.query_time, width)
    if (each := words.examined_per_sent(group)) is not None and each > _MANY:
        text = f"{number(each)} rows examined for each row sent"
        yield from wrapped(text, width, first=_INDENT, style="medium")
    yield from _flags(group, width)
    for label, names in (
        ("users", group.users),
        ("hosts", group.hosts),
        ("databases", group.databases),
        ("errors", words.error_names(group.errors)),
    ):
        yield from _labelled(label, _names(names, group.count), width)
    if group.first_us is not None and group.last_us is not None:
        yield from _labelled("seen", zone.span(group.first_us, group.last_us), width)
    if group.history is not None:
        yield from _labelled("history", words.history_words(group.history, zone), width)
    if group.example is not None:
        yield from _example(group.example, zone, width)
    if group.plan is not None:
        yield from _plan(group.plan, width)
    yield from _indexes(group, digest, width)


def _labelled(label: str, text: str, width: int) -> Iterator[Line]:
    if text:
        yield from wrapped(text, width, first=f"  {label:{_LABEL}}", rest=_INDENT)


def _histogram(time: Measure, width: int) -> Iterator[Line]:
    if len(time.histogram) < 2:
        return
    low = words.time_text(time.min if time.min is not None else time.histogram[0][0])
    high = words.time_text(time.max if time.max is not None else time.histogram[-1][0])
    steps = on_log_scale(time.histogram, max(8, min(_STEPS, width - len(f"{_INDENT}{low} ││ {high}"))))
    yield Line(f"{_INDENT}{low} │{heights(steps)}│ {high}")


def _flags(group: Group, width: int) -> Iterator[Line]:
    ordered = sorted(group.flags.items(), key=lambda pair: not title(pair[0]).is_alarming)
    flags = [(name, flag) for name, flag in ordered if flag.yes]
    text = ", ".join(f"{title(name).short} {words.share(flag.yes, flag.told)}" for name, flag in flags)
    alarming = any(title(name).is_alarming for name, _ in flags)
    for line in _labelled("flags", text, width):
        yield Line(line.text, "medium" if alarming else "plain")


def _names(names: Sequence[tuple[str, int]], calls: int) -> str:
    shown = [f"{name} {words.share(times, calls)}" for name, times in names[:_MOST_NAMES]]
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join(shown + more)


def _example(example: Example, zone: Zone, width: int) -> Iterator[Line]:
    known = ", ".join(_of_example(example, zone))
    yield from _labelled("example", known, width) if known else [Line("  example")]
    lines = printable_lines(example.text[:_MOST_CHARACTERS])
    # Not wrapped: a statement is there to be copied, and terminals copy a line that they had to break as one.
    for text in lines[:_MOST_LINES]:
        yield Line(f"    {text}", "do")
    if example.is_cut or len(lines) > _MOST_LINES or len(example.text) > _MOST_CHARACTERS:
        yield Line(f"    … of {count(example.bytes)} bytes", "faint")


def _of_example(example: Example, zone: Zone) -> Iterator[str]:
    if example.source is not None:
        yield example.source + (f":{example.line}" if example.line is not None else "")
    if example.query_time_us is not None:
        yield f"took {words.time_text(example.query_time_us)}"
    if example.time_us is not None:
        yield f"at {zone.moment(example.time_us)}"
    if example.user is not None:
        yield f"by {example.user}" + (f" from {example.host}" if example.host else "")
    if example.database is not None:
        yield f"in {example.database}"


_PLAN = ("id", "select_type", "table", "partitions", "type", "possible_keys", "key", "key_len", "ref", "rows")
_PLAN_LAST = ("filtered", "extra")
_GIVES_WAY = ("possible_keys", "key_len", "ref", "partitions", "filtered", "select_type", "extra")
"""Columns of EXPLAIN in the order in which they go when there is no room; Extra goes below its line."""


def _plan(plan: Plan, width: int) -> Iterator[Line]:
    if plan.refused is not None:
        yield from _labelled("explain", plan.refused, width)
        return
    columns = [
        name for name in (*_PLAN, *_PLAN_LAST) if any(getattr(row, name) is not None for row in plan.rows)
    ]
    sizes = {name: max(len(name), *(len(_cell(row, name)) for row in plan.rows)) for name in columns}
    columns = fitting(columns, sizes, width - 2, _GIVES_WAY)
    yield Line("  explain")
    yield Line(("    " + "  ".join(name.ljust(sizes[name]) for name in columns)).rstrip(), "faint")
    for row in plan.rows:
        text = "    " + "  ".join(_cell(row, name).ljust(sizes[name]) for name in columns)
        notes = ", ".join(remarks(row))
        yield Line(text.rstrip(), "medium" if notes else "plain")
        if row.extra is not None and "extra" not in columns:
            yield from wrapped(row.extra, width, first=" " * 8)
        if notes:
            yield from wrapped(notes, width, first="      ^ ", style="medium")


def _cell(row: PlanRow, name: str) -> str:
    value = getattr(row, name)
    if value is None:
        return MISSING
    text = count(value) if name == "rows" else f"{value:g}" if name == "filtered" else str(value)
    return printable(text) if name == "extra" else shorten(printable(text), _CELL)


def _indexes(group: Group, digest: Digest, width: int) -> Iterator[Line]:
    for place, candidate in enumerate(digest.candidates, 1):
        if group.id in candidate.groups:
            yield from _labelled("index", f"{candidate.statement} (candidate {place} below)", width)
    for without in digest.without_candidate:
        if without.group == group.id:
            yield from _labelled("index", f"none: {'; '.join(without.why)}", width)
