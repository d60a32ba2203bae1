"""A comparison in one sentence."""

from mydyno.core.plurals import plural
from mydyno.page.format import change, count
from mydyno.rehearse.records import SideComparison, StatementComparison, Times


def headline(comparison: SideComparison, margin: float) -> str:
    """`mariadb-11.8 for this trace: of 212 statements 1 fails, 1 returns other rows, 3 are slower.`"""
    all_of = comparison.statements
    parts = [
        _part(sum(bool(each.fails) for each in all_of), "fails", "fail"),
        _part(
            sum(each.other_result is not None for each in all_of), "returns other rows", "return other rows"
        ),
        _part(len(comparison.with_timing("slower")), "is slower", "are slower"),
        _part(len(comparison.with_timing("faster")), "is faster", "are faster"),
        _part(sum(bool(each.warnings) for each in all_of), "gives new warnings", "give new warnings"),
    ]
    of = f"{count(len(all_of))} {plural(len(all_of), 'statement')}"
    listed = [part for part in parts if part]
    if listed:
        return f"{comparison.other} for this trace: of {of} {', '.join(listed)}."
    none = f"{comparison.other} for this trace: of {of} none fails, returns other rows or is slower"
    unclear = len(comparison.with_timing("unclear"))
    if unclear:
        return (
            f"{none}; of {count(unclear)} a difference of {margin * 100:.0f}% is neither shown nor ruled out."
        )
    return f"{none} by {margin * 100:.0f}%."


def _part(number: int, one: str, more: str) -> str | None:
    return f"{count(number)} {one if number == 1 else more}" if number else None


def verdict(each: StatementComparison) -> str:
    """`fails`, `other result, slower`, `same`."""
    words = [
        *(["fails"] if each.fails else []),
        *(["no longer fails"] if each.repaired else []),
        *(["other result"] if each.other_result else []),
        *(["new warnings"] if each.warnings else []),
        *(["other plan"] if each.has_other_plan else []),
        *([each.times.timing] if each.times.timing in ("slower", "faster") else []),
    ]
    return ", ".join(words) or each.times.timing


def interval_text(times: Times) -> str:
    """`+12.4% (+9.1% to +15.8%)`."""
    if times.ratio is None:
        return "not timed"
    if times.low is None or times.high is None:
        return f"{change(times.ratio)} (too few repetitions for an interval)"
    return f"{change(times.ratio)} ({change(times.low)} to {change(times.high)})"


def remarks(each: StatementComparison) -> list[str]:
    """What there is to know of a statement, a sentence each."""
    lines = []
    for failure in each.fails:
        why = f": {failure.reason}" if failure.reason else ""
        lines.append(
            f"fails with error {failure.number} {count(failure.executions)}"
            f" {plural(failure.executions, 'time')}, first statement"
            f" {count(failure.first + 1)}{why} ({failure.message or 'no message'})"
        )
    for failure in each.repaired:
        lines.append(f"error {failure.number} of the baseline is gone ({failure.message or 'no message'})")
    if (other := each.other_result) is not None:
        note = f"; {other.note}" if other.note else ""
        lines.append(
            f"{count(other.executions)} of {count(each.executions)} return something else, first statement"
            f" {count(other.first + 1)} ({count(other.rows[0])} and {count(other.rows[1])} rows){note}"
        )
    if each.warnings:
        lines.append(f"{count(each.warnings)} with warnings that the baseline does not give")
    if each.times.baseline_us is not None and each.times.other_us is not None:
        lines.append(
            f"mean {each.times.baseline_us / 1000:.3f} ms and {each.times.other_us / 1000:.3f} ms:"
            f" {interval_text(each.times)}"
        )
    if each.not_repeatable:
        lines.append(f"{count(each.not_repeatable)} are not repeatable on one side and not compared")
    if each.not_compared:
        lines.append(f"results are not compared: {each.not_compared}")
    return lines
