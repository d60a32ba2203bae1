"""A rehearsal as text for a terminal: the answer first, then what differs, the worst first."""

from collections.abc import Iterator

from mydyno.core.synthetic import SAYS
from mydyno.page.format import MISSING, count, printable, shorten
from mydyno.page.lines import Line, Style, wrapped
from mydyno.queries.records import Plan
from mydyno.rehearse.records import Rehearsal, SideComparison, StatementComparison, Timing
from mydyno.rehearse.wording import interval_text, remarks, verdict

SHOWN = 20
_INDENT = "     "
_TIMINGS: dict[Timing, str] = {
    "same": "as fast as before",
    "unclear": "unclear: more repetitions are needed",
    "not timed": "not timed",
}
_NOTHING = "Nothing differs that this rehearsal can show."


def rehearsal_lines(rehearsal: Rehearsal, width: int, limit: int = SHOWN) -> Iterator[Line]:
    for comparison in rehearsal.comparisons:
        yield from wrapped(comparison.headline, width, style="heading")
    if rehearsal.synthetic:
        yield from wrapped(SAYS, width, style="medium")
    yield Line()
    for name, text in rehearsal.sides.items():
        yield from wrapped(text, width, first=f"side     {name}: ", rest=" " * 9)
    yield from wrapped(
        f"{count(rehearsal.repetitions)} repetitions in random order on fresh clones of {rehearsal.data};"
        f" a difference below {rehearsal.margin * 100:.0f}% does not count; 95% intervals in brackets",
        width,
        first="method   ",
    )
    for note in rehearsal.notes:
        yield from wrapped(note, width, first="note     ", style="medium")
    for comparison in rehearsal.comparisons:
        yield from _comparison(comparison, width, limit)
    if rehearsal.advice:
        yield Line()
        yield Line("BEFORE THE UPGRADE", "heading")
        for each in rehearsal.advice:
            yield from wrapped(f"{each.title} ({each.rule})", width, first="  - ", rest="    ")
            yield from wrapped(each.why, width, first="    ", style="faint")


def _comparison(comparison: SideComparison, width: int, limit: int) -> Iterator[Line]:
    yield Line()
    yield Line(f"{comparison.other.upper()} AGAINST {comparison.baseline.upper()}", "heading")
    yield from wrapped(f"time of the whole trace {interval_text(comparison.total)}", width, first=_INDENT)
    if comparison.diverged is not None:
        text = (
            f"statement {count(comparison.diverged + 1)} changes other rows on the two sides: results behind"
            " it may differ for that alone"
        )
        yield from wrapped(text, width, first=_INDENT, style="medium")
    notable = [each for each in comparison.statements if each.is_notable]
    for number, each in enumerate(notable[:limit], 1):
        yield Line()
        yield from _statement(number, each, width)
    if len(notable) > limit:
        yield Line(f"and {count(len(notable) - limit)} more (--limit)", "faint")
    counts = [
        f"{count(len(comparison.with_timing(timing)))} {words}"
        for timing, words in _TIMINGS.items()
        if comparison.with_timing(timing)
    ]
    yield Line()
    yield from wrapped(f"{'' if notable else _NOTHING + ' '}Of all statements: {'; '.join(counts)}.", width)


def _statement(number: int, each: StatementComparison, width: int) -> Iterator[Line]:
    styles: dict[str, Style] = {"fails": "critical", "other result": "high", "slower": "high", "faster": "do"}
    word = verdict(each)
    style: Style = next((style for name, style in styles.items() if name in word), "medium")
    shares = " -> ".join(f"{share * 100:.1f}%" for share in each.shares)
    yield Line(f"{number:3}. {word}, share of the time {shares}", style)
    yield from wrapped(shorten(each.text, 300), width, first=_INDENT)
    for text in remarks(each):
        yield from wrapped(text, width, first=f"{_INDENT}  ", rest=f"{_INDENT}    ")
    if each.plans is not None and each.has_other_plan:
        for name, plan in zip(("plan before", "plan after "), each.plans, strict=True):
            yield from wrapped(plan_text(plan), width, first=f"{_INDENT}  {name} ", rest=f"{_INDENT}    ")
    yield Line(f"{_INDENT}  id {each.id}", "faint")


def plan_text(plan: Plan) -> str:
    """`orders: ref by_customer, 12 rows; items: ALL, 4,000 rows (Using filesort)`"""
    if plan.refused:
        return plan.refused
    parts = []
    for row in plan.rows:
        access = " ".join(filter(None, (row.type, row.key)))
        extra = f" ({row.extra})" if row.extra else ""
        parts.append(f"{row.table or MISSING}: {access or MISSING}, {count(row.rows)} rows{extra}")
    return printable("; ".join(parts))
