"""The reference part of docs/reference/workloads.md, made from the tables that the reader itself goes by.

    python -m mydyno.lab.workload.reference docs/reference/workloads.md

rewrites what is between the two markers of that file. Besides, a workload in words, for people: what it is,
what can be chosen, what an event sends.
"""

import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from mydyno.core.document.quantities import CountRule, DurationRule
from mydyno.core.units import format_bytes, format_duration
from mydyno.lab.workload.definitions import CONNECTION_KEYS, FILE_KEYS, TRANSACTION_KEYS, builtin_names
from mydyno.lab.workload.dictionaries import DICTIONARY_KEYS
from mydyno.lab.workload.estimate import statement_counts
from mydyno.lab.workload.file import Resolved, WorkloadFile, read
from mydyno.lab.workload.functions import FUNCTIONS, WORDS
from mydyno.lab.workload.options import OPTION_KEYS, Options
from mydyno.lab.workload.sql import SQL_FORMS
from mydyno.lab.workload.steps import ACTION_KEYS, AROUND_KEYS, STATEMENT_KEYS
from mydyno.lab.workload.tables import TABLE_KEYS

_LONGEST_SQL = 200


def describe(workload: WorkloadFile, resolved: Resolved, width: int) -> str:
    """About, options, and everything of `summary`, in lines of at most `width` characters."""
    lines = [workload.name, *_wrapped(workload.about, width, "  ")]
    if workload.source:
        lines += _wrapped(f"source: {workload.source}", width, "  ")
    if resolved.options:
        lines += ["", "options"]
        for name, kind, _, about in option_rows(workload.options):
            chosen = str(resolved.options[name])
            chosen = chosen.lower() if isinstance(resolved.options[name], bool) else chosen
            meaning = about if kind in ("true, false", "a text") else f"{about} ({kind})"
            lines += _wrapped(meaning, width, f"  {name:<20} {chosen:<12} ", f"{'':36}")
    return "\n".join([*lines, "", *_summary(resolved, width)])


def summary(resolved: Resolved, width: int) -> str:
    """Tables, what an event sends and how connections are held, in lines of at most `width` characters."""
    return "\n".join(_summary(resolved, width))


def _summary(resolved: Resolved, width: int) -> Iterator[str]:
    program = resolved.program
    yield f"tables: {resolved.rows:,} rows, about {format_bytes(resolved.data_bytes)}"
    for line in _tables(program["tables"]):
        yield from _wrapped(line, width, "  ", "    ")
    yield ""
    yield f"an event sends {_amount(resolved.statements_per_event)} on average"
    counts = statement_counts(program)
    weights = sum(each["weight"] for each in program["transactions"])
    for transaction in program["transactions"]:
        if len(program["transactions"]) > 1:
            share = transaction["weight"] / weights
            sent = sum(counts[transaction["name"]].values())
            yield f"  {transaction['name']}: {share:.3g} of the events, {_amount(sent)}"
        shapes = dict(_shapes(transaction["steps"]))
        for name, count in counts[transaction["name"]].items():
            start = f"    {count:>8.4g}  {name:<20} "
            yield from _wrapped(textwrap.shorten(shapes[name], _LONGEST_SQL), width, start, " " * len(start))
    yield ""
    yield from _wrapped(_policy(program), width)
    for check in program["checks"]:
        yield from _wrapped(f"checked after the load: {check['name']}", width, "", "  ")


def _amount(statements: float) -> str:
    return "1 statement" if statements == 1 else f"{statements:.4g} statements"


def _tables(tables: list[dict[str, Any]]) -> Iterator[str]:
    """One line for tables that are alike."""
    alike: dict[tuple[int, str], list[str]] = {}
    for table in tables:
        alike.setdefault((table["rows"], ", ".join(table["columns"])), []).append(table["name"])
    for (rows, columns), names in alike.items():
        shown = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}, {len(names)} tables"
        each = "" if len(names) == 1 else " each"
        yield f"{shown}: {rows:,} rows{each}" + (f" ({columns})" if columns else "")


def _shapes(steps: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Every statement by its name, with ? for values."""
    for step in steps:
        [(kind, body)] = step.items()
        if kind == "send":
            yield body["name"], "".join(_shape(part) for part in body["sql"])
        elif kind == "mix":
            for each in body:
                yield from _shapes(each["steps"])
        elif kind in ("repeat", "when"):
            yield from _shapes([*body["steps"], *body.get("else", [])])


def _shape(part: Any) -> str:
    if isinstance(part, str):
        return part
    return "?" if "value" in part else "N" if "copy" in part else "..."


def _policy(program: dict[str, Any]) -> str:
    opened = {
        "phase": "all connections are open before the clock starts",
        "lazy": "each connection opens when its first event begins",
        "event": "every event opens a connection and closes it",
    }
    parts = [
        "statements are prepared on the server" if program["prepared"] else "statements go as text",
        opened[program["open"]],
    ]
    if program["lost"] == "reopen":
        parts.append("a lost connection is opened again")
    if program["retry"]:
        parts.append(f"an event starts again after error {', '.join(map(str, program['retry']))}")
    return "; ".join(parts)


def _wrapped(text: str, width: int, first: str = "", then: str | None = None) -> list[str]:
    indent = first if then is None else then
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=indent) or [first.rstrip()]


BEGIN = "<!-- reference: begin (made by python -m mydyno.lab.workload.reference) -->"
END = "<!-- reference: end -->"


def reference() -> str:
    """Markdown: every key, form of SQL, word, function and built-in workload."""
    return "\n".join(_sections()).rstrip() + "\n"


def with_reference(document: str) -> str:
    """`document` with the part between the markers generated again. Raises ValueError without markers."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document lacks {BEGIN} or {END}")
    return f"{before}{BEGIN}\n\n{reference()}\n{END}{after}"


def option_rows(section: type[Options]) -> Iterator[tuple[str, str, str, str]]:
    """Name, what may be written, default and meaning of every option."""
    for name, field in section.model_fields.items():
        default = field.default
        if any(isinstance(rule, DurationRule) for rule in field.metadata):
            default = format_duration(default) if default else 0
        shown = str(default).lower() if isinstance(default, bool) else str(default)
        yield name, _kind(field.annotation, field.metadata), shown, field.description or ""


def _kind(annotation: Any, metadata: list[Any]) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(str(choice) for choice in get_args(annotation))
    if annotation is bool:
        return "true, false"
    for rule in metadata:
        if isinstance(rule, DurationRule):
            return "a time, as 10ms"
        if isinstance(rule, CountRule):
            return f"a number from {rule.at_least:,} to {rule.at_most:,}"
    return "a number" if annotation is float else "a text"


def _sections() -> Iterator[str]:
    yield from _keys("The file", FILE_KEYS)
    yield from _keys("An option", OPTION_KEYS)
    yield from _keys("A dictionary", DICTIONARY_KEYS)
    yield from _keys("A table", TABLE_KEYS)
    yield from _keys("A transaction", TRANSACTION_KEYS)
    yield from _keys(
        "A step: what it does", {"NAME: STATEMENT": "Sends SQL, counted as NAME.", **ACTION_KEYS}
    )
    yield from _keys("With a statement", STATEMENT_KEYS)
    yield from _keys("Round a step, from outside to inside", AROUND_KEYS)
    yield from _keys("`connection`", CONNECTION_KEYS)
    yield from _keys("In SQL", SQL_FORMS, "form")
    yield from _keys("Words in expressions", WORDS, "word")
    functions = {function.signature: function.about for function in FUNCTIONS.values()}
    yield from _keys("Functions", functions, "function")
    yield from _keys("Built-in workloads", {name: read(name).about for name in builtin_names()}, "name")


def _keys(title: str, rows: Mapping[str, str], heading: str = "key") -> Iterator[str]:
    yield f"### {title}"
    yield ""
    yield f"| {heading} | meaning |"
    yield "|---|---|"
    for key, about in rows.items():
        yield f"| `{key}` | {about} |"
    yield ""


def main(path: Path) -> None:
    path.write_text(with_reference(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
