"""The reference part of docs/reference/workloads.md, made from the tables that the reader itself goes by.

    python -m mydyno.lab.workload.reference docs/reference/workloads.md

rewrites what is between the two markers of that file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from mydyno.core.document.quantities import CountRule, DurationRule
from mydyno.core.units import format_duration
from mydyno.lab.workload.definitions import CONNECTION_KEYS, FILE_KEYS, TRANSACTION_KEYS, builtin_names
from mydyno.lab.workload.dictionaries import DICTIONARY_KEYS
from mydyno.lab.workload.file import read
from mydyno.lab.workload.functions import FUNCTIONS, WORDS
from mydyno.lab.workload.options import OPTION_KEYS, Options
from mydyno.lab.workload.sql import SQL_FORMS
from mydyno.lab.workload.steps import ACTION_KEYS, AROUND_KEYS, STATEMENT_KEYS
from mydyno.lab.workload.tables import TABLE_KEYS

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
