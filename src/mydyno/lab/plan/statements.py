"""What kinds of statement a workload sends, by their first words."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from mydyno.lab.spec import Workload
from mydyno.lab.workload.external_program import ExternalSysbench

_READING = frozenset(
    {"select", "set", "show", "use", "do", "explain", "begin", "start", "commit", "rollback"}
)
_READING_SCRIPTS = frozenset(
    {"oltp_read_only", "oltp_point_select", "select_random_points", "select_random_ranges"}
)


def first_words(workload: Workload) -> Counter[str]:
    """The first words of the statements in the workload's transactions, in small letters, and how often."""
    if workload.resolved is None:
        return Counter()
    return Counter(_words(workload.resolved.program["transactions"]))


def writes(workload: Workload) -> bool:
    """Whether the load may change its tables."""
    if isinstance(workload.external, ExternalSysbench):
        return workload.external.script not in _READING_SCRIPTS
    if workload.trace_options is not None:
        return workload.trace_options.reads_only is not True
    return workload.resolved is None or not first_words(workload).keys() <= _READING


def table_names(workload: Workload) -> tuple[str, ...]:
    """The tables that are made before the load; none for a load that makes its own."""
    if workload.resolved is not None:
        return tuple(str(table["name"]) for table in workload.resolved.program["tables"])
    return workload.external.table_names if isinstance(workload.external, ExternalSysbench) else ()


def _words(node: Any) -> Iterator[str]:
    """The first word of every statement below a node of the program."""
    if isinstance(node, list):
        for each in node:
            yield from _words(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "sql":
                yield str(value[0]).split(None, 1)[0].lower()
            else:
                yield from _words(value)
